import { ActionIcon, Button, Checkbox, Group, Menu, Select, Text, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';
import { formatCount } from '../format.ts';
import { isTyping } from '../shell/shortcuts.tsx';
import { Icon } from '../ui/icons.tsx';
import type { Column } from './columns.ts';
import type { ListState, ListStateSetters } from './list-state.ts';

/** A filter of a list: one choice, kept in the address under `name`. */
export type Filter = { name: string; label: string; options: readonly { value: string; label: string }[] };

const TYPING_PAUSE_MS = 250;

type ToolbarProps<Row> = {
  columns: readonly Column<Row>[];
  filters?: readonly Filter[];
  state: ListState & ListStateSetters;
  searchLabel: string;
  hidden: Record<string, boolean>;
  onToggleColumn: (id: string) => void;
  count: { value: number; is_capped: boolean } | undefined;
  /** There is nothing to search in. */
  isPlain: boolean;
};

export function Toolbar<Row>(props: ToolbarProps<Row>) {
  const { columns, filters = [], state, hidden, onToggleColumn, count, isPlain } = props;
  if (isPlain) return null;
  const isFiltered = state.q !== '' || Object.keys(state.filters).length > 0;
  return (
    <Group gap="xs" mb="xs">
      <SearchField label={props.searchLabel} state={state} />
      {filters.map(({ name, label, options }) => (
        <Select
          key={name}
          size="xs"
          w={150}
          placeholder={label}
          aria-label={label}
          data={options as { value: string; label: string }[]}
          value={state.filters[name] ?? null}
          clearable
          onChange={(value) => state.setFilter(name, value ?? '')}
        />
      ))}
      {isFiltered ? (
        <Button variant="subtle" size="xs" onClick={state.clear}>
          Clear
        </Button>
      ) : null}
      <Group gap="xs" ml="auto">
        {count === undefined ? null : (
          <Text size="sm" c="dimmed" role="status">
            {formatCount(count)} {count.value === 1 && !count.is_capped ? 'row' : 'rows'}
          </Text>
        )}
        <Menu closeOnItemClick={false} position="bottom-end">
          <Menu.Target>
            <ActionIcon variant="default" size={30} aria-label="Choose columns">
              <Icon name="columns" size={16} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            {columns.map(({ id, header }) => (
              <Menu.Item key={id} onClick={() => onToggleColumn(id)}>
                <Checkbox size="xs" label={header} checked={hidden[id] === true} readOnly tabIndex={-1} />
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      </Group>
    </Group>
  );
}

/** Searches a moment after the last letter; "/" leads here from anywhere. */
function SearchField({ label, state }: { label: string; state: ListState & ListStateSetters }) {
  const [text, setText] = useState(state.q);
  const field = useRef<HTMLInputElement>(null);
  const search = useDebouncedCallback(state.setSearch, TYPING_PAUSE_MS);
  useEffect(() => setText(state.q), [state.q]);
  useEffect(() => {
    function onKey(event: KeyboardEvent): void {
      if (event.key !== '/' || isTyping(event.target)) return;
      event.preventDefault();
      field.current?.focus();
    }
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
  return (
    <TextInput
      ref={field}
      size="xs"
      w={{ base: '100%', xs: 260 }}
      type="search"
      aria-label={label}
      placeholder={label}
      leftSection={<Icon name="search" size={14} />}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
        search(event.currentTarget.value.trim());
      }}
    />
  );
}
