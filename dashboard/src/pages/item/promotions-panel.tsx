import { Button, Group, Modal, Stack, Text, Title } from '@mantine/core';
import { DateTimePicker } from '@mantine/dates';
import { useState } from 'react';
import { ApiFailure, api } from '../../api/client.ts';
import { useOperation } from '../../api/queries.ts';
import { formatMoney, formatTime } from '../../format.ts';
import { Status } from '../../ui/status.tsx';
import { toastError, toastSuccess } from '../../ui/toasts.ts';
import { MoneyInput } from './item-fields.tsx';
import type { Item } from './item-queries.ts';

type Promotion = Item['promotions'][number];
type Draft = { id: string | null; amount: number | null; startsAt: string | null; endsAt: string | null };

const STATES = {
  planned: { tone: 'info', label: 'Planned' },
  running: { tone: 'good', label: 'Runs now' },
  ended: { tone: 'off', label: 'Ended' },
} as const;

/** Promotions begin and end by themselves. */
export function PromotionsPanel({ item, onChanged }: { item: Item; onChanged: () => void }) {
  const [draft, setDraft] = useState<Draft | null>(null);
  const end = useOperation('DELETE /items/{item_id}/promotions/{promotion_id}', {
    success: 'Promotion ended.',
    onSuccess: onChanged,
  });
  const current = item.promotions.filter(({ state }) => state !== 'ended');
  const { currency } = item.choices;
  const edit = ({ id, price_amount, starts_at, ends_at }: Promotion) =>
    setDraft({ id, amount: price_amount, startsAt: starts_at, endsAt: ends_at });
  return (
    <section className="item-section" aria-label="Promotions">
      <Group justify="space-between">
        <Title order={2} size="h4">
          Promotions
        </Title>
        <Button
          size="xs"
          variant="default"
          disabled={item.price_amount === null}
          title={item.price_amount === null ? 'An item without a price has no promotion.' : undefined}
          onClick={() => setDraft({ id: null, amount: null, startsAt: null, endsAt: null })}
        >
          Start promotion
        </Button>
      </Group>
      {current.map((promotion) => (
        <Group key={promotion.id} justify="space-between">
          <div>
            <Text size="sm">
              {formatMoney(promotion.price_amount, currency)}{' '}
              <Status tone={STATES[promotion.state].tone}>{STATES[promotion.state].label}</Status>
            </Text>
            <Text size="xs" c="dimmed">
              {formatTime(promotion.starts_at)} –{' '}
              {promotion.ends_at === null ? 'no end' : formatTime(promotion.ends_at)}
            </Text>
          </div>
          <Group gap={4}>
            <Button size="compact-xs" variant="subtle" onClick={() => edit(promotion)}>
              Change
            </Button>
            <Button
              size="compact-xs"
              variant="subtle"
              color="ruby"
              onClick={() => end.mutate({ params: { item_id: item.id, promotion_id: promotion.id } })}
            >
              End
            </Button>
          </Group>
        </Group>
      ))}
      {current.length === 0 ? (
        <Text size="sm" c="dimmed">
          None runs or is planned.
        </Text>
      ) : null}
      {draft === null ? null : (
        <PromotionDialog item={item} draft={draft} onClose={() => setDraft(null)} onChanged={onChanged} />
      )}
    </section>
  );
}

type DialogProps = { item: Item; draft: Draft; onClose: () => void; onChanged: () => void };

function PromotionDialog({ item, draft, onClose, onChanged }: DialogProps) {
  const [values, setValues] = useState(draft);
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [isBusy, setBusy] = useState(false);
  const save = async () => {
    if (values.amount === null) return setErrors({ price_amount: 'Enter the promotional price.' });
    setBusy(true);
    const body = { price_amount: values.amount, starts_at: isoOf(values.startsAt), ends_at: isoOf(values.endsAt) };
    try {
      if (values.id === null) await api('POST /items/{item_id}/promotions', { params: { item_id: item.id }, body });
      else {
        const params = { item_id: item.id, promotion_id: values.id };
        await api('PUT /items/{item_id}/promotions/{promotion_id}', { params, body });
      }
      toastSuccess('Promotion saved.');
      onChanged();
      onClose();
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      if (error.field === undefined) toastError(error);
      else setErrors({ [error.field]: error.message });
    } finally {
      setBusy(false);
    }
  };
  return (
    <Modal opened onClose={onClose} title={values.id === null ? 'Start a promotion' : 'Change the promotion'}>
      <Stack>
        <MoneyInput
          label="Promotional price"
          currency={item.choices.currency}
          amount={values.amount}
          error={errors.price_amount}
          onChange={(amount) => setValues({ ...values, amount })}
        />
        <DateTimePicker
          label="Starts"
          placeholder="Now"
          clearable
          value={values.startsAt}
          error={errors.starts_at}
          onChange={(startsAt) => setValues({ ...values, startsAt })}
        />
        <DateTimePicker
          label="Ends"
          placeholder="When you end it"
          clearable
          value={values.endsAt}
          error={errors.ends_at}
          onChange={(endsAt) => setValues({ ...values, endsAt })}
        />
        <Button loading={isBusy} onClick={() => void save()}>
          Save promotion
        </Button>
      </Stack>
    </Modal>
  );
}

/** The picker gives a time of this browser's zone. */
function isoOf(text: string | null): string | null {
  return text === null ? null : new Date(text.replace(' ', 'T')).toISOString();
}
