import { Button, Group, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { ApiFailure, api } from '../../api/client.ts';
import { showFailure } from '../../api/failures.ts';
import { useOperation } from '../../api/queries.ts';
import { formatMoney, formatZonedTime } from '../../format.ts';
import { useSession } from '../../shell/session/session.ts';
import { instantOf, localTimeOf } from '../../time-zone.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Confirm } from '../../ui/feedback/confirm.tsx';
import { toastSuccess } from '../../ui/feedback/toasts.ts';
import { DateTimeInput } from '../../ui/fields/date-time-input.tsx';
import { Status } from '../../ui/status.tsx';
import type { Item } from './item-queries.ts';
import { MoneyInput } from './money-input.tsx';

type Promotion = Item['promotions'][number];
/** Times are local ones of the business: `2026-11-16T09:00`. */
type Draft = { id: string | null; amount: number | null; startsAt: string | null; endsAt: string | null };

const STATES = {
  planned: { tone: 'info', label: 'Planned' },
  running: { tone: 'good', label: 'Runs now' },
  ended: { tone: 'off', label: 'Ended' },
} as const;

/** Promotions begin and end by themselves. */
export function PromotionsPanel({ item, onChanged }: { item: Item; onChanged: () => void }) {
  const [draft, setDraft] = useState<Draft | null>(null);
  const [ending, setEnding] = useState<Promotion | null>(null);
  const current = item.promotions.filter(({ state }) => state !== 'ended');
  const { currency } = item.choices;
  const { time_zone: zone } = useSession().organization;
  const edit = ({ id, price_amount, starts_at, ends_at }: Promotion) =>
    setDraft({
      id,
      amount: price_amount,
      startsAt: localTimeOf(starts_at, zone),
      endsAt: ends_at === null ? null : localTimeOf(ends_at, zone),
    });
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
            <Group gap="xs">
              <Text size="sm">{formatMoney(promotion.price_amount, currency)}</Text>
              <Status tone={STATES[promotion.state].tone}>{STATES[promotion.state].label}</Status>
            </Group>
            <Text size="xs" c="dimmed">
              {formatZonedTime(promotion.starts_at, zone)} –{' '}
              {promotion.ends_at === null ? 'no end' : formatZonedTime(promotion.ends_at, zone)} ({zone})
            </Text>
          </div>
          <Group gap={4}>
            <Button size="compact-xs" variant="subtle" onClick={() => edit(promotion)}>
              Change
            </Button>
            <Button size="compact-xs" variant="subtle" color="ruby" onClick={() => setEnding(promotion)}>
              {promotion.state === 'running' ? 'End' : 'Cancel'}
            </Button>
          </Group>
        </Group>
      ))}
      {current.length === 0 ? (
        <Text size="sm" c="dimmed">
          None runs or is planned.
        </Text>
      ) : null}
      {ending === null ? null : (
        <EndDialog item={item} promotion={ending} onClose={() => setEnding(null)} onChanged={onChanged} />
      )}
      {draft === null ? null : (
        <PromotionDialog item={item} draft={draft} onClose={() => setDraft(null)} onChanged={onChanged} />
      )}
    </section>
  );
}

type EndDialogProps = { item: Item; promotion: Promotion; onClose: () => void; onChanged: () => void };

/** There is no undo: the sites have read the other price by then. */
function EndDialog({ item, promotion, onClose, onChanged }: EndDialogProps) {
  const isRunning = promotion.state === 'running';
  const end = useOperation('DELETE /items/{item_id}/promotions/{promotion_id}', {
    success: isRunning ? 'Promotion ended.' : 'Promotion cancelled.',
    onSuccess() {
      onChanged();
      onClose();
    },
  });
  return (
    <Confirm
      isOpen
      title={isRunning ? 'End the promotion now?' : 'Cancel the promotion?'}
      verb={isRunning ? 'End it' : 'Cancel it'}
      keep="Keep it"
      isDangerous
      isBusy={end.isPending}
      onClose={onClose}
      onConfirm={() => end.mutate({ params: { item_id: item.id, promotion_id: promotion.id } })}
    >
      {isRunning
        ? `Every channel goes back from ${formatMoney(promotion.price_amount, item.choices.currency)} to the usual price at once.`
        : 'It has not begun. No price changes.'}
    </Confirm>
  );
}

type DialogProps = { item: Item; draft: Draft; onClose: () => void; onChanged: () => void };

function PromotionDialog({ item, draft, onClose, onChanged }: DialogProps) {
  const { time_zone: zone } = useSession().organization;
  const [values, setValues] = useState(draft);
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [isBusy, setBusy] = useState(false);
  const change = (changes: Partial<Draft>, field: string) => {
    setValues({ ...values, ...changes });
    setErrors(({ [field]: _gone, ...others }) => others);
  };
  const save = async () => {
    if (values.amount === null) return setErrors({ price_amount: 'Enter the promotional price.' });
    setBusy(true);
    setErrors({});
    const body = {
      price_amount: values.amount,
      starts_at: instantIn(values.startsAt, zone),
      ends_at: instantIn(values.endsAt, zone),
    };
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
      if (!(error instanceof ApiFailure) || error.field === undefined) return showFailure(error);
      setErrors({ [error.field]: error.message });
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog opened onClose={onClose} title={values.id === null ? 'Start a promotion' : 'Change the promotion'}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <Stack>
          <MoneyInput
            label="Promotional price"
            currency={item.choices.currency}
            amount={values.amount}
            {...(item.price_amount === null
              ? {}
              : { description: `Below the price of ${formatMoney(item.price_amount, item.choices.currency)}.` })}
            isFocused
            error={errors.price_amount}
            onChange={(amount) => change({ amount }, 'price_amount')}
          />
          <DateTimeInput
            label={`Starts (${zone})`}
            description={`Empty starts it now. ${elsewhere(values.startsAt, zone)}`}
            value={values.startsAt}
            error={errors.starts_at}
            onChange={(startsAt) => change({ startsAt }, 'starts_at')}
          />
          <DateTimeInput
            label={`Ends (${zone})`}
            description={`Empty runs until you end it. ${elsewhere(values.endsAt, zone)}`}
            value={values.endsAt}
            error={errors.ends_at}
            onChange={(endsAt) => change({ endsAt }, 'ends_at')}
          />
          <Button type="submit" loading={isBusy}>
            Save promotion
          </Button>
        </Stack>
      </form>
    </Dialog>
  );
}

/** What was typed is meant in the zone of the business. */
function instantIn(local: string | null, zone: string): string | null {
  return local === null ? null : instantOf(local, zone);
}

/** For somebody who works in another zone than the business. */
function elsewhere(local: string | null, zone: string): string {
  const own = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  const instant = instantIn(local, zone);
  return instant === null || own === zone ? '' : `${formatZonedTime(instant, own)} where you are (${own}).`;
}
