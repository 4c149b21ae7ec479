import { Alert, Button, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { STOP_REASON_LABELS } from '../../../../src/contract/dashboard/integrations/integrations.ts';
import { GONE_LIMIT } from '../../../../src/contract/limits.ts';
import { readAnew, useOperation } from '../../api/queries.ts';
import { paths } from '../../paths.ts';
import { TextLink } from '../../ui/text-link.tsx';
import { Time } from '../../ui/time.tsx';
import type { Delivery } from './delivery-queries.ts';

export type Stop = Pick<Delivery, 'stop_reasons' | 'switched_off'>;

type StoppedAlertProps = { integrationId: string; name: string; stop: Stop; children?: ReactNode };

/** Why nothing is sent to an integration, since when, and what to do about it. Nothing if webhooks are sent. */
export function StoppedAlert({ integrationId, name, stop, children }: StoppedAlertProps) {
  const { stop_reasons: reasons } = stop;
  if (reasons.length === 0) return null;
  const isGone = reasons.includes('gone');
  const isOff = isGone || reasons.includes('webhooks_off');
  const settings = { to: paths.integration(integrationId), search: { tab: 'webhooks' } };
  return (
    <Alert color="brass" py="xs" role="status">
      <Group justify="space-between" gap="xs">
        <Text size="sm" className="stopped-endpoint">
          <b>Nothing is sent to {name}.</b> <StopSentences name={name} stop={stop} /> {children}
        </Text>
        <Group gap="sm">
          {isGone ? (
            <Button
              size="xs"
              renderRoot={(props) => <Link {...props} to={settings.to} search={settings.search as never} />}
            >
              Correct the webhook URL
            </Button>
          ) : (
            <TextLink {...settings}>Webhook settings</TextLink>
          )}
          {isOff ? <TurnOnButton integrationId={integrationId} isFirst={!isGone} /> : null}
        </Group>
      </Group>
    </Alert>
  );
}

/** Every reason as a sentence; the one that somebody is behind says who and since when. */
export function StopSentences({ name, stop }: { name: string; stop: Stop }) {
  const { stop_reasons: reasons, switched_off: switched } = stop;
  // Of two switches the service names the time of the webhooks' own, which stands first.
  const isSwitched = (reason: Reason) => reasons.find((one) => SWITCHES.some((other) => other === one)) === reason;
  return reasons.map((reason, index) => (
    <span key={reason}>
      {index === 0 ? '' : ' '}
      <StopSentence reason={reason} name={name} switched={isSwitched(reason) ? switched : null} />
    </span>
  ));
}

type Reason = Stop['stop_reasons'][number];
const SWITCHES: readonly Reason[] = ['gone', 'webhooks_off', 'integration_disabled'];

type StopSentenceProps = { reason: Reason; name: string; switched: Stop['switched_off'] };

function StopSentence({ reason, name, switched }: StopSentenceProps) {
  const since = switched === null ? null : <Time at={switched.at} />;
  if (reason === 'gone') {
    return (
      <>
        {name} answered 410 Gone {GONE_LIMIT} times in a row, so webhooks were switched off{since === null ? '' : ' '}
        {since}. Check the webhook URL first: 410 means that there is nothing at this address any more.
      </>
    );
  }
  if (switched === null || switched.by === null) return STOP_REASON_LABELS[reason];
  return (
    <>
      {reason === 'webhooks_off' ? 'Webhooks were switched off' : 'The integration was disabled'} by {switched.by}{' '}
      {since}.
    </>
  );
}

/** Turns webhooks on; what was held is sent at once. */
function TurnOnButton({ integrationId, isFirst }: { integrationId: string; isFirst: boolean }) {
  const turnOn = useOperation('PUT /integrations/{integration_id}/webhook/enabled', {
    success: 'Webhooks are on. What was held is sent now.',
    onSuccess: () => void Promise.all([readAnew('delivery'), readAnew('integration')]),
  });
  return (
    <Button
      size="xs"
      variant={isFirst ? 'filled' : 'default'}
      loading={turnOn.isPending}
      onClick={() => turnOn.mutate({ params: { integration_id: integrationId }, body: { is_enabled: true } })}
    >
      Turn on and resume
    </Button>
  );
}
