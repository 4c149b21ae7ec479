import { Button, Menu, Stack, Text, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { Fragment, useState } from 'react';
import { useOperation } from '../../api/queries.ts';
import { paths } from '../../paths.ts';
import { useOwnerOnlyReason } from '../../shell/session/session.ts';
import { Confirm } from '../../ui/feedback/confirm.tsx';
import { useUndo } from '../audit/undo.ts';
import type { Item } from './item-queries.ts';
import { VoidDialog } from './sales-panel.tsx';
import { SellDialog } from './sell-dialog.tsx';
import { UNIT_ACTION_LABELS, type UnitsAction, UnitsDialog, unitsLimit } from './units-dialog.tsx';

/** What belongs together: keeping units for somebody, and units that come and go otherwise than by a sale. */
const UNIT_GROUPS: UnitsAction[][] = [
  ['reserve', 'release'],
  ['restock', 'return', 'fit', 'remove'],
];

/** What can be done with an item besides editing it. What can't be done now is disabled with its reason. */
export function ActionsMenu({ item, onChanged }: { item: Item; onChanged: () => void }) {
  const [action, setAction] = useState<UnitsAction | 'delete' | null>(null);
  // The one that was the last when it was chosen: it stays that one when somebody sells or voids another meanwhile.
  const [voided, setVoided] = useState<Item['sales'][number] | null>(null);
  const navigate = useNavigate();
  const ownerOnly = useOwnerOnlyReason();
  const { offer } = useUndo();
  const hide = useOperation('PUT /items/{item_id}/hidden', {
    onSuccess({ audit_id: auditId }, { body }) {
      offer(body.is_hidden ? 'Hidden on every channel.' : 'Shown again.', auditId);
      onChanged();
    },
  });
  const params = { item_id: item.id };
  const lastSale = item.sales.find((sale) => !sale.is_voided);
  const close = () => setAction(null);
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default">Actions</Button>
        </Menu.Target>
        <Menu.Dropdown>
          <ActionItem reason={reasonAgainst('sell', item)} onClick={() => setAction('sell')}>
            {UNIT_ACTION_LABELS.sell}
          </ActionItem>
          <ActionItem
            reason={lastSale === undefined ? 'There is no sale to void.' : null}
            onClick={() => setVoided(lastSale ?? null)}
          >
            Void the last sale
          </ActionItem>
          {UNIT_GROUPS.map((group) => (
            <Fragment key={group.join()}>
              <Menu.Divider />
              {group
                .filter((one) => one !== 'fit' || item.kind === 'part')
                .map((one) => (
                  <ActionItem key={one} reason={reasonAgainst(one, item)} onClick={() => setAction(one)}>
                    {UNIT_ACTION_LABELS[one]}
                  </ActionItem>
                ))}
            </Fragment>
          ))}
          <Menu.Divider />
          <ActionItem reason={null} onClick={() => hide.mutate({ params, body: { is_hidden: !item.is_hidden } })}>
            {item.is_hidden ? 'Show again' : 'Hide on every channel'}
          </ActionItem>
          <ActionItem
            reason={null}
            onClick={() => void navigate({ to: paths.newItem(item.kind), search: { from: item.id } as never })}
          >
            Duplicate
          </ActionItem>
          <Menu.Divider />
          <ActionItem reason={ownerOnly} isDestructive onClick={() => setAction('delete')}>
            Delete for ever
          </ActionItem>
        </Menu.Dropdown>
      </Menu>
      {action === null || action === 'delete' || action === 'sell' ? null : (
        <UnitsDialog item={item} action={action} onClose={close} onChanged={onChanged} />
      )}
      {action === 'sell' ? <SellDialog item={item} onClose={close} onChanged={onChanged} /> : null}
      {voided === null ? null : (
        <VoidDialog item={item} sale={voided} onClose={() => setVoided(null)} onChanged={onChanged} />
      )}
      {action === 'delete' ? <DeleteDialog item={item} onClose={close} /> : null}
    </>
  );
}

function DeleteDialog({ item, onClose }: { item: Item; onClose: () => void }) {
  const navigate = useNavigate();
  const [typed, setTyped] = useState('');
  const remove = useOperation('DELETE /items/{item_id}', {
    success: 'Deleted for ever.',
    onSuccess: () => void navigate({ to: item.kind === 'part' ? paths.parts() : paths.watches(), ignoreBlocker: true }),
  });
  return (
    <Confirm
      isOpen
      title={`Delete ${item.title}?`}
      verb="Delete for ever"
      isDangerous
      isBusy={remove.isPending}
      isDisabled={typed.trim() !== item.stock_number}
      onConfirm={() => remove.mutate({ params: { item_id: item.id } })}
      onClose={onClose}
    >
      <Stack gap="sm">
        <Text size="sm">
          It disappears from every site, and its photos are deleted. There is no undo. To take it off for a while, hide
          it instead.
        </Text>
        <TextInput
          label={`Type ${item.stock_number} to confirm`}
          autoComplete="off"
          data-autofocus
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
      </Stack>
    </Confirm>
  );
}

function reasonAgainst(action: UnitsAction, item: Item): string | null {
  if (unitsLimit(action, item) > 0) return null;
  if (action === 'release') return 'No units are reserved by hand.';
  return action === 'restock' || action === 'return' ? 'An item has at most a million units.' : 'No units are free.';
}

type ActionItemProps = { reason: string | null; isDestructive?: boolean; onClick: () => void; children: string };

function ActionItem({ reason, isDestructive = false, onClick, children }: ActionItemProps) {
  return (
    <Menu.Item
      color={isDestructive && reason === null ? 'ruby' : undefined}
      disabled={reason !== null}
      onClick={onClick}
    >
      {children}
      {reason === null ? null : (
        <Text size="xs" c="dimmed">
          {reason}
        </Text>
      )}
    </Menu.Item>
  );
}
