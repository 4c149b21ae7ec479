import { Button, Group, Select, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { UNDO_LIMIT_DAYS } from '../../../../src/contract/dashboard/limits.ts';
import type { BulkAction } from '../../../../src/contract/dashboard/stock/bulk.ts';
import { api, type Input } from '../../api/client.ts';
import { useOperation } from '../../api/queries.ts';
import { formatNumber } from '../../format.ts';
import { toastJob } from '../../jobs/job-toast.tsx';
import type { Selection } from '../../table/selection.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { DecimalInput } from '../../ui/fields/decimal-input.tsx';
import { type PriceChange, PriceFields } from './price-fields.tsx';
import type { Kind, StockChoices, StockItem } from './stock-queries.ts';

type Change = Input<'POST /stock/bulk'>['body'];

export type BulkDialogProps = {
  kind: Kind;
  action: BulkAction | 'delete';
  selection: Selection;
  choices: StockChoices;
  example: StockItem | undefined;
  onClose: () => void;
};

/** Asks for what the change needs, says how many items it is about, and starts the job. */
export function BulkDialog(props: BulkDialogProps) {
  const { kind, action, selection, choices, example, onClose } = props;
  const chosen = selection.isAllMatching ? { filter: { kind, ...selection.match } } : { item_ids: selection.ids };
  const { data } = useQuery({
    queryKey: ['POST /stock/bulk/count', chosen],
    queryFn: () => api('POST /stock/bulk/count', { body: chosen as Change }),
    meta: { kinds: [] },
  });
  const count = data?.count;
  const [channelId, setChannelId] = useState(choices.channels[0]?.integration_id ?? null);
  const [locationId, setLocationId] = useState<string | null>(null);
  const [price, setPrice] = useState<PriceChange | null>(null);
  const [confirmed, setConfirmed] = useState<number | null>(null);
  const options = {
    onSuccess({ job_id }: { job_id: string }) {
      toastJob(job_id);
      selection.clear();
      onClose();
    },
  };
  const change = useOperation('POST /stock/bulk', { ...options, isNamed: true });
  const remove = useOperation('POST /stock/bulk/delete', options);
  const isReady =
    count !== undefined &&
    count > 0 &&
    (action !== 'change_price' || price !== null) &&
    (action !== 'delete' || confirmed === count);
  const start = () => {
    if (!isReady) return;
    if (action === 'delete') return remove.mutate({ body: { ...chosen, count } as never });
    const body = {
      ...chosen,
      action,
      ...(action === 'publish' || action === 'unpublish' ? { integration_id: channelId ?? '' } : {}),
      ...(action === 'set_location' ? { location_id: locationId } : {}),
      ...(action === 'change_price' && price !== null ? { price } : {}),
    };
    change.mutate({ body: body as Change });
  };
  const things = count === undefined ? '…' : thingsOf(kind, count);
  const { title, verb } = WORDS[action];
  return (
    <Dialog opened onClose={onClose} title={`${title} ${things}`}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          start();
        }}
      >
        <Stack gap="md">
          {action === 'publish' || action === 'unpublish' ? (
            <Select
              label="Channel"
              data={choices.channels.map(({ integration_id, name }) => ({ value: integration_id, label: name }))}
              value={channelId}
              allowDeselect={false}
              onChange={setChannelId}
            />
          ) : null}
          {action === 'set_location' ? (
            <Select
              label="Location"
              placeholder="None"
              clearable
              data={choices.locations.map(({ id, name, business_unit }) => ({
                value: id,
                label: `${business_unit}, ${name}`,
              }))}
              value={locationId}
              onChange={setLocationId}
            />
          ) : null}
          {action === 'change_price' ? (
            <PriceFields currency={choices.currency} example={example} onChange={setPrice} />
          ) : null}
          {action === 'delete' ? (
            <>
              <Text size="sm">
                {things} will be deleted for ever, with their photos. Websites learn of it at once. This can’t be
                undone; hiding can.
              </Text>
              <DecimalInput
                label={`Type ${count ?? '…'} to confirm`}
                decimals={0}
                units={confirmed}
                onChange={setConfirmed}
              />
            </>
          ) : (
            <Text size="sm" c="dimmed">
              It runs in the background. You can cancel it, and undo it for {UNDO_LIMIT_DAYS} days.
            </Text>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button
              type="submit"
              color={action === 'delete' ? 'ruby' : undefined}
              disabled={!isReady}
              loading={change.isPending || remove.isPending}
            >
              {verb} {count === undefined ? '' : formatNumber(count)}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

const WORDS: Record<BulkAction | 'delete', { title: string; verb: string }> = {
  publish: { title: 'Publish', verb: 'Publish' },
  unpublish: { title: 'Take off', verb: 'Take off' },
  hide: { title: 'Hide', verb: 'Hide' },
  show: { title: 'Show', verb: 'Show' },
  change_price: { title: 'Change the price of', verb: 'Change' },
  set_location: { title: 'Set the location of', verb: 'Set' },
  delete: { title: 'Delete for ever:', verb: 'Delete' },
};

function thingsOf(kind: Kind, count: number): string {
  const one = kind === 'part' ? 'part' : 'watch';
  const many = kind === 'part' ? 'parts' : 'watches';
  return `${formatNumber(count)} ${count === 1 ? one : many}`;
}
