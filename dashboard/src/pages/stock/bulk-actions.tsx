import { Button, Menu, Tooltip } from '@mantine/core';
import { useState } from 'react';
import { BULK_ACTIONS, type BulkAction } from '../../../../src/contract/dashboard/stock/bulk.ts';
import { useOwnerOnlyReason } from '../../shell/session/session.ts';
import type { Selection } from '../../table/selection.ts';
import { Icon } from '../../ui/icons.tsx';
import { BulkDialog } from './bulk-dialog.tsx';
import type { Kind, StockChoices, StockItem } from './stock-queries.ts';

type BulkActionsProps = {
  kind: Kind;
  selection: Selection;
  choices: StockChoices;
  /** A row that is shown, for an example of a new price. */
  example: StockItem | undefined;
};

/** Those used most have a button of their own where there is room; a phone has all of them in the menu. */
const FIRST: readonly BulkAction[] = ['publish', 'unpublish', 'change_price'];
const ALL = Object.keys(BULK_ACTIONS) as BulkAction[];

/** What can be done with what is selected. */
export function BulkActions({ kind, selection, choices, example }: BulkActionsProps) {
  const [open, setOpen] = useState<BulkAction | 'delete' | null>(null);
  const ownerOnly = useOwnerOnlyReason();
  const why = (action: BulkAction): string | null => {
    const needsChannel = action === 'publish' || action === 'unpublish';
    if (needsChannel && choices.channels.length === 0) return 'Connect a website first.';
    if (action === 'set_location' && choices.locations.length === 0) return 'Make a location first.';
    return null;
  };
  return (
    <>
      {FIRST.map((action) => (
        <Tooltip key={action} label={why(action)} disabled={why(action) === null}>
          <Button
            size="compact-sm"
            variant="default"
            visibleFrom="sm"
            data-disabled={why(action) !== null || undefined}
            onClick={() => why(action) === null && setOpen(action)}
          >
            {BULK_ACTIONS[action]}
          </Button>
        </Tooltip>
      ))}
      <Menu position="bottom-start">
        <Menu.Target>
          <Button size="compact-sm" variant="default" rightSection={<Icon name="down" size={12} />}>
            Actions
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {ALL.map((action) => (
            <Menu.Item
              key={action}
              hiddenFrom={FIRST.includes(action) ? 'sm' : undefined}
              disabled={why(action) !== null}
              onClick={() => setOpen(action)}
            >
              {BULK_ACTIONS[action]}
            </Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item color="ruby" disabled={ownerOnly !== null} onClick={() => setOpen('delete')}>
            {ownerOnly === null ? 'Delete for ever' : 'Delete for ever (owners only)'}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {open === null ? null : (
        <BulkDialog
          kind={kind}
          action={open}
          selection={selection}
          choices={choices}
          example={example}
          onClose={() => setOpen(null)}
        />
      )}
    </>
  );
}
