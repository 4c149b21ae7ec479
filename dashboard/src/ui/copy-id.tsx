import { ActionIcon, CopyButton, Tooltip } from '@mantine/core';
import { Icon } from './icons.tsx';

/** An id that can be copied. `label` says what it is to people who can't see it. */
export function CopyId({ id, label = 'id' }: { id: string; label?: string }) {
  return (
    <span className="copy-id">
      <code>{id}</code>
      <CopyButton value={id}>
        {({ copied, copy }) => (
          <Tooltip label={copied ? 'Copied' : 'Copy'}>
            <ActionIcon variant="subtle" color="gray" size="sm" onClick={copy} aria-label={`Copy ${label}`}>
              <Icon name={copied ? 'check' : 'copy'} size={14} />
            </ActionIcon>
          </Tooltip>
        )}
      </CopyButton>
    </span>
  );
}
