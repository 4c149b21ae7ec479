import { Button, NumberInput, Stack, Text } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { type ItemMovement, MOVEMENT_LABELS } from '../../../../src/contract/dashboard/stock/items.ts';
import { UNITS_LIMIT } from '../../../../src/contract/limits.ts';
import type { ApiFailure } from '../../api/client.ts';
import { useOperation } from '../../api/queries.ts';
import { formatNumber } from '../../format.ts';
import { Dialog } from '../../ui/dialog.tsx';
import type { Item } from './item-queries.ts';

/** A sale has a dialog of its own, which asks for more. */
export type UnitsAction = ItemMovement | 'sell';
export const SELL_LABEL = 'Mark as sold';
export const UNIT_ACTION_LABELS: Record<UnitsAction, string> = { sell: SELL_LABEL, ...MOVEMENT_LABELS };

const DONE: Record<ItemMovement, string> = {
  reserve: 'Reserved.',
  release: 'Released.',
  restock: 'Restocked.',
  return: 'Taken back.',
  fit: 'Fitted.',
  remove: 'Removed.',
};

/** What an action does, for people who have not used it before. */
const EXPLANATIONS: Record<ItemMovement, string> = {
  reserve: 'Holds units back for a customer. Sites can’t sell them until you release them.',
  release: 'Gives units free that were reserved by hand.',
  restock: 'Units have arrived from a supplier.',
  return: 'A customer has brought units back.',
  fit: 'Units were fitted to a watch in the workshop.',
  remove: 'Units left otherwise: lost, damaged or sold outside the books.',
};

/** How many units an action can take now. */
export function unitsLimit(action: UnitsAction, item: Item): number {
  if (action === 'restock' || action === 'return') return UNITS_LIMIT - item.units;
  if (action === 'release') return item.releasable_units;
  // What a site holds for a checkout can be sold over the counter: its reservation is released then.
  return action === 'sell' ? item.free_units + item.site_reserved_units : item.free_units;
}

export function rangeError(limit: number): string {
  return limit === 1 ? 'Enter 1: there are no more.' : `Enter a number from 1 to ${formatNumber(limit)}.`;
}

type UnitsDialogProps = { item: Item; action: ItemMovement; onClose: () => void; onChanged: () => void };

export function UnitsDialog({ item, action, onClose, onChanged }: UnitsDialogProps) {
  const [units, setUnits] = useState<number | null>(1);
  const [refusal, setRefusal] = useState<string | null>(null);
  const move = useOperation('POST /items/{item_id}/movements', {
    isNamed: true,
    success: DONE[action],
    onSuccess() {
      onChanged();
      onClose();
    },
    // Somebody may have taken units while the dialog was open: the page behind it is read anew.
    onFailure(error: ApiFailure) {
      if (error.field !== 'units') return false;
      setRefusal(error.message);
      onChanged();
      return true;
    },
  });
  const limit = unitsLimit(action, item);
  const isValid = units !== null && units >= 1 && units <= limit;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isValid) move.mutate({ params: { item_id: item.id }, body: { movement: action, units } });
  };
  return (
    <Dialog opened onClose={onClose} title={UNIT_ACTION_LABELS[action]}>
      <form onSubmit={submit}>
        <Stack>
          <Text size="sm">{EXPLANATIONS[action]}</Text>
          <NumberInput
            label="Units"
            description={limit === 1 ? 'At most 1' : `1 to ${formatNumber(limit)}`}
            min={1}
            max={limit}
            clampBehavior="none"
            allowDecimal={false}
            allowNegative={false}
            data-autofocus
            value={units ?? ''}
            error={refusal ?? (isValid || units === null ? undefined : rangeError(limit))}
            onChange={(value) => {
              setRefusal(null);
              setUnits(value === '' ? null : Number(value));
            }}
          />
          <Button type="submit" disabled={!isValid} loading={move.isPending}>
            {UNIT_ACTION_LABELS[action]}
          </Button>
        </Stack>
      </form>
    </Dialog>
  );
}
