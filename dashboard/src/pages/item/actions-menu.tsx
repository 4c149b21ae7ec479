import { Button, Menu, Modal, NumberInput, Stack, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { type ItemMovement, MOVEMENT_LABELS } from '../../../../src/contract/dashboard/items.ts';
import { useOperation } from '../../api/queries.ts';
import { paths } from '../../paths.ts';
import { useOwnerOnlyReason } from '../../shell/session.ts';
import { Confirm } from '../../ui/confirm.tsx';
import type { Item } from './item-queries.ts';

type UnitsAction = ItemMovement | 'sell';
const LABELS: Record<UnitsAction, string> = { sell: 'Mark as sold', ...MOVEMENT_LABELS };

/** What can be done with an item besides editing it. What can't be done now is disabled with its reason. */
export function ActionsMenu({ item, onChanged }: { item: Item; onChanged: () => void }) {
  const [action, setAction] = useState<UnitsAction | null>(null);
  const [isDeleting, setDeleting] = useState(false);
  const navigate = useNavigate();
  const ownerOnly = useOwnerOnlyReason();
  const hide = useOperation('PUT /items/{item_id}/hidden', { onSuccess: onChanged });
  const remove = useOperation('DELETE /items/{item_id}', {
    success: 'Deleted for ever.',
    onSuccess: () => void navigate({ to: item.kind === 'part' ? paths.parts() : paths.watches(), ignoreBlocker: true }),
  });
  const voidSale = useOperation('POST /items/{item_id}/sales/{sale_id}/void', {
    success: 'Sale voided.',
    onSuccess: onChanged,
  });
  const params = { item_id: item.id };
  const lastSale = item.sales.find((sale) => !sale.is_voided);
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default">Actions</Button>
        </Menu.Target>
        <Menu.Dropdown>
          {UNIT_ACTIONS.filter((one) => one !== 'fit' || item.kind === 'part').map((one) => (
            <ActionItem key={one} reason={reasonAgainst(one, item)} onClick={() => setAction(one)}>
              {LABELS[one]}
            </ActionItem>
          ))}
          <ActionItem
            reason={lastSale === undefined ? 'There is no sale to void.' : null}
            onClick={() => lastSale && voidSale.mutate({ params: { ...params, sale_id: lastSale.id } })}
          >
            Void the last sale
          </ActionItem>
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
          <ActionItem reason={ownerOnly} onClick={() => setDeleting(true)}>
            Delete for ever
          </ActionItem>
        </Menu.Dropdown>
      </Menu>
      {action === null ? null : (
        <UnitsDialog item={item} action={action} onClose={() => setAction(null)} onChanged={onChanged} />
      )}
      <Confirm
        isOpen={isDeleting}
        title={`Delete ${item.title}?`}
        verb="Delete for ever"
        isDangerous
        isBusy={remove.isPending}
        onConfirm={() => remove.mutate({ params })}
        onClose={() => setDeleting(false)}
      >
        It disappears from every site, and its photos are deleted. There is no undo.
      </Confirm>
    </>
  );
}

const UNIT_ACTIONS: UnitsAction[] = ['sell', 'reserve', 'release', 'restock', 'return', 'fit', 'remove'];

function reasonAgainst(action: UnitsAction, item: Item): string | null {
  if (action === 'restock' || action === 'return') return null;
  if (action === 'release') return item.releasable_units > 0 ? null : 'No units are reserved by hand.';
  return item.free_units > 0 ? null : 'No units are free.';
}

type ActionItemProps = { reason: string | null; onClick: () => void; children: string };

function ActionItem({ reason, onClick, children }: ActionItemProps) {
  return (
    <Menu.Item disabled={reason !== null} title={reason ?? undefined} onClick={onClick}>
      {children}
    </Menu.Item>
  );
}

type UnitsDialogProps = { item: Item; action: UnitsAction; onClose: () => void; onChanged: () => void };

function UnitsDialog({ item, action, onClose, onChanged }: UnitsDialogProps) {
  const [units, setUnits] = useState(1);
  const done = () => {
    onChanged();
    onClose();
  };
  const success = `${LABELS[action]}: done.`;
  const sell = useOperation('POST /items/{item_id}/sales', { success, onSuccess: done });
  const move = useOperation('POST /items/{item_id}/movements', { success, onSuccess: done });
  const params = { item_id: item.id };
  const confirm = () =>
    action === 'sell'
      ? sell.mutate({ params, body: { units } })
      : move.mutate({ params, body: { movement: action, units } });
  return (
    <Modal opened onClose={onClose} title={LABELS[action]}>
      <Stack>
        <Text size="sm">
          {item.free_units} of {item.units} units are free.
        </Text>
        <NumberInput
          label="Units"
          min={1}
          allowDecimal={false}
          data-autofocus
          value={units}
          onChange={(value) => setUnits(Number(value) || 1)}
        />
        <Button loading={sell.isPending || move.isPending} onClick={confirm}>
          {LABELS[action]}
        </Button>
      </Stack>
    </Modal>
  );
}
