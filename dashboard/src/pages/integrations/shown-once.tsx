import { Button, CopyButton, Group, Stack, Text, TextInput } from '@mantine/core';
import { Dialog } from '../../ui/dialog.tsx';
import { DoubleClickGuard } from '../../ui/double-click-guard.tsx';

/** A key or a secret that nobody can show again: read only, with a button that copies it. */
export function ShownOnce({ label, value, note }: { label: string; value: string; note: string }) {
  return (
    <Stack gap={4}>
      <Group align="flex-end" gap="xs" wrap="nowrap">
        <TextInput
          label={label}
          value={value}
          readOnly
          flex={1}
          styles={{ input: { fontFamily: 'var(--mono)' } }}
          onFocus={(event) => event.currentTarget.select()}
        />
        <CopyButton value={value}>
          {({ copied, copy }) => (
            <Button variant="default" onClick={copy} aria-label={`Copy the ${label.toLowerCase()}`}>
              {copied ? 'Copied' : 'Copy'}
            </Button>
          )}
        </CopyButton>
      </Group>
      <Text size="xs" c="dimmed">
        {note}
      </Text>
    </Stack>
  );
}

type ShownOnceDialogProps = {
  title: string;
  label: string;
  value: string | null;
  note: string;
  /** What the person has done with it when they close the dialog. */
  stored?: string;
  onClose: () => void;
};

/** It closes by its button alone: what is lost here has to be made anew. */
export function ShownOnceDialog(props: ShownOnceDialogProps) {
  const { title, label, value, note, stored = 'I have stored it', onClose } = props;
  return (
    <Dialog
      opened={value !== null}
      onClose={onClose}
      title={title}
      size="lg"
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Stack>
        <ShownOnce label={label} value={value ?? ''} note={note} />
        <Group justify="flex-end">
          <DoubleClickGuard>
            <Button onClick={onClose}>{stored}</Button>
          </DoubleClickGuard>
        </Group>
      </Stack>
    </Dialog>
  );
}

/** A command that is ready to be copied into a shell. */
export function Command({ label, text }: { label: string; text: string }) {
  return (
    <figure className="command">
      <figcaption>
        <span>{label}</span>
        <CopyButton value={text}>
          {({ copied, copy }) => (
            <Button size="compact-xs" variant="default" onClick={copy} aria-label={`Copy: ${label}`}>
              {copied ? 'Copied' : 'Copy'}
            </Button>
          )}
        </CopyButton>
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard. */}
      <pre tabIndex={0}>{text}</pre>
    </figure>
  );
}

export function meCommand(apiKey: string): string {
  return `curl ${location.origin}/api/v1/me \\\n  -H "Authorization: Bearer ${apiKey}"`;
}
