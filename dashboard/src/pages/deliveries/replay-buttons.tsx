import { Alert, Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { STOP_REASON_LABELS } from '../../../../src/contract/dashboard/integrations/integrations.ts';
import { readAnew, useOperation } from '../../api/queries.ts';
import { formatCount, formatNumber } from '../../format.ts';
import type { Selection } from '../../table/data-table.tsx';
import { Confirm } from '../../ui/feedback/confirm.tsx';
import { toastSuccess } from '../../ui/feedback/toasts.ts';
import type { Delivery, DeliveryChoices } from './delivery-queries.ts';

/** Sends one delivery again. Disabled with its reason while it can't be. */
export function ReplayButton({ delivery }: { delivery: Delivery }) {
  const replay = useOperation('POST /deliveries/{delivery_id}/replay', {
    success: queuedText(delivery),
    onSuccess: () => readAnew('delivery'),
  });
  return (
    <Button
      disabled={!delivery.can_replay}
      title={delivery.can_replay ? undefined : whyNot(delivery)}
      loading={replay.isPending}
      onClick={() => replay.mutate({ params: { delivery_id: delivery.id } })}
    >
      Replay
    </Button>
  );
}

function queuedText({ stop_reasons: reasons }: Delivery): string {
  const [reason] = reasons;
  return reason === undefined
    ? 'Queued. It is sent now.'
    : `Queued, and held until it can be sent. ${STOP_REASON_LABELS[reason]}`;
}

function whyNot({ status, is_in_flight: isInFlight }: Delivery): string {
  if (isInFlight) return 'It is being sent right now.';
  return status === 'held' ? 'It is held, and sent as soon as webhooks are on again.' : 'It waits to be sent already.';
}

/** Sends what is selected again: single ones, or all that match. Asks first, since a receiver gets them twice. */
export function ReplaySelected({ selection }: { selection: Selection }) {
  const [isAsking, setAsking] = useState(false);
  const replay = useOperation('POST /replays', {
    onSuccess({ queued, skipped, in_jobs: inJobs }) {
      setAsking(false);
      selection.clear();
      const left = skipped === 0 ? '' : ` ${formatNumber(skipped)} left as they are: held, or on their way.`;
      toastSuccess(
        inJobs > 0 ? `${formatNumber(inJobs)} are replayed step by step.` : `${formatNumber(queued)} queued.${left}`,
      );
      void readAnew('delivery');
    },
    onFailure() {
      setAsking(false);
      return false;
    },
  });
  const body = selection.isAllMatching ? { match: selection.match } : { delivery_ids: selection.ids };
  const count = formatCount(selection.count);
  return (
    <>
      <Button size="xs" onClick={() => setAsking(true)}>
        Replay
      </Button>
      <Confirm
        isOpen={isAsking}
        title={`Replay ${count} deliveries?`}
        verb="Replay"
        keep="Don’t replay"
        isBusy={replay.isPending}
        onConfirm={() => replay.mutate({ body: body as never })}
        onClose={() => setAsking(false)}
      >
        They are sent again with the same event ids. A site that has handled them already should ignore them.
      </Confirm>
    </>
  );
}

/** Replays that are running: how far each is, and a way to end it. */
export function RunningReplays({ choices }: { choices: DeliveryChoices | undefined }) {
  const cancel = useOperation('POST /replays/{replay_id}/cancel', {
    success: 'The replay was ended. What it has queued is sent.',
    onSuccess: () => void readAnew('delivery'),
  });
  const names = new Map(choices?.integrations.map((one) => [one.integration_id, one.name]));
  return choices?.replays.map(({ id, integration_id, done, total }) => (
    <Alert key={id} color="blue" mb="sm" role="status">
      <Group justify="space-between">
        <Text size="sm">
          Replaying on {names.get(integration_id)}: {formatNumber(done)} of {formatNumber(total)}
        </Text>
        <Button
          size="compact-sm"
          variant="default"
          loading={cancel.isPending}
          onClick={() => cancel.mutate({ params: { replay_id: id } })}
        >
          Cancel
        </Button>
      </Group>
    </Alert>
  ));
}
