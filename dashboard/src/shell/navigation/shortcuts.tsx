import { Kbd, Table } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { Dialog } from '../../ui/dialog.tsx';
import { NAVIGATION } from './navigation.ts';

const SEQUENCE_MS = 1_200;

const SHORTCUTS: [keys: string, meaning: string][] = [
  ['Ctrl K', 'Search and commands'],
  ['/', 'Search in the list'],
  ['j  k', 'Next and previous row'],
  ['x', 'Select the row'],
  ['Esc', 'Clear the selection'],
  ['Enter', 'Open the row'],
  ['e', 'Edit the row'],
  ['Ctrl S', 'Save'],
  ['?', 'This help'],
];

/** "g" and a letter go to a page; "?" shows all shortcuts. Keys that are typed into a field do nothing. */
export function Shortcuts() {
  const [isOpen, help] = useDisclosure(false);
  const navigate = useNavigate();
  useEffect(() => {
    let startedAt = 0;
    function onKey(event: KeyboardEvent): void {
      if (isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === '?') help.open();
      const entry = NAVIGATION.find(({ letter }) => letter === event.key);
      if (Date.now() - startedAt < SEQUENCE_MS && entry !== undefined) {
        event.preventDefault();
        void navigate({ to: entry.path });
      }
      startedAt = event.key === 'g' ? Date.now() : 0;
    }
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [navigate, help]);

  const pages = NAVIGATION.map(({ letter, label }): [string, string] => [`g ${letter}`, label]);
  return (
    <Dialog opened={isOpen} onClose={help.close} title="Keyboard shortcuts">
      <Table>
        <Table.Tbody>
          {[...SHORTCUTS, ...pages].map(([keys, meaning]) => (
            <Table.Tr key={keys}>
              <Table.Td>
                <Kbd>{keys}</Kbd>
              </Table.Td>
              <Table.Td>{meaning}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Dialog>
  );
}

export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  // A box or a switch takes no letters: keys go on working after a click on one.
  if (target instanceof HTMLInputElement && /^(checkbox|radio)$/.test(target.type)) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}
