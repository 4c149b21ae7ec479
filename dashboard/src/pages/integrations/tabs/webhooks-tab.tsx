import { Alert, Select, Stack, Switch, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { useOperation } from '../../../api/queries.ts';
import { formatTime } from '../../../format.ts';
import { useOwnerOnlyReason } from '../../../shell/session/session.ts';
import { Confirm } from '../../../ui/feedback/confirm.tsx';
import { toastUndo } from '../../../ui/feedback/undo-toast.tsx';
import { Time } from '../../../ui/time.tsx';
import { StopSentences } from '../../deliveries/stopped-alert.tsx';
import { Facts, refreshIntegration } from '../integration-parts.tsx';
import type { Integration } from '../integration-queries.ts';
import { ReasonButton } from '../reason-button.tsx';
import { ShownOnceDialog } from '../shown-once.tsx';
import { EventTree } from './event-tree.tsx';
import { UrlForm } from './url-form.tsx';

const SECRET_NOTE =
  'The website verifies webhooks with it. It is shown this once; a lost one is replaced by a new one.';

export function WebhooksTab({ integration }: { integration: Integration }) {
  const { id, webhook } = integration;
  const reason = useOwnerOnlyReason();
  const [secret, setSecret] = useState<string | null>(null);
  const toggle = useOperation('PUT /integrations/{integration_id}/webhook/enabled', {
    onSuccess(_, { body }) {
      refreshIntegration(id);
      toastUndo(body.is_enabled ? 'Webhooks are on.' : 'Webhooks are off.', () => set(!body.is_enabled));
    },
  });
  const set = (isOn: boolean) => toggle.mutate({ params: { integration_id: id }, body: { is_enabled: isOn } });
  return (
    <Stack gap="xl" maw={760}>
      {webhook.url === null || webhook.stop_reasons.length === 0 ? null : (
        <Alert color="brass" title="No webhooks are sent now" role="status">
          <StopSentences name={integration.name} stop={webhook} />{' '}
          {webhook.stop_reasons.includes('gone') ? 'Correct the URL below, then switch on “Send webhooks”.' : null} What
          happens meanwhile is held and sent later: nothing is lost.
        </Alert>
      )}
      <UrlForm integrationId={id} url={webhook.url} reason={reason} onSecret={setSecret} />
      <Switch
        label="Send webhooks"
        description="While it is off, events are held. Switched on again, they are sent at once."
        checked={webhook.is_enabled}
        disabled={toggle.isPending}
        onChange={(event) => set(event.currentTarget.checked)}
      />
      <Facts
        facts={[
          ['Last success', webhook.last_success_at === null ? 'never' : <Time key="ok" at={webhook.last_success_at} />],
          ['Last failure', webhook.last_failure_at === null ? 'never' : <Time key="no" at={webhook.last_failure_at} />],
          ['Failures in a row', String(webhook.consecutive_failures)],
        ]}
      />
      <Secrets integration={integration} reason={reason} onSecret={setSecret} />
      <EventTree integration={integration} />
      <ShownOnceDialog
        title="New signing secret"
        label="Signing secret"
        value={secret}
        note={SECRET_NOTE}
        onClose={() => setSecret(null)}
      />
    </Stack>
  );
}

const GRACE_CHOICES = [
  { value: '24', label: '24 hours' },
  { value: '0', label: 'At once' },
  { value: '1', label: '1 hour' },
  { value: '72', label: '3 days' },
  { value: '168', label: '7 days' },
];

type SecretsProps = { integration: Integration; reason: string | null; onSecret: (secret: string) => void };

function Secrets({ integration: { id, secrets }, reason, onSecret }: SecretsProps) {
  const [isAsking, setAsking] = useState(false);
  const [grace, setGrace] = useState('24');
  const rotate = useOperation('POST /integrations/{integration_id}/webhook/secret', {
    onSuccess({ secret }) {
      setAsking(false);
      onSecret(secret);
      refreshIntegration(id);
    },
  });
  return (
    <Stack gap="xs" align="flex-start">
      <Title order={2} size="h4">
        Signing secrets
      </Title>
      {secrets.length === 0 ? (
        <Text size="sm" c="dimmed">
          The first one is made with the webhook URL.
        </Text>
      ) : (
        <ul className="plain-list secrets">
          {secrets.map((secret) => (
            <li key={secret.created_at}>
              <span>
                Made <Time at={secret.created_at} />
                {secret.is_usable ? '' : ', cannot be read with the keys of this service'}
              </span>
              <span>{secret.expires_at === null ? 'signs' : `signs along until ${formatTime(secret.expires_at)}`}</span>
            </li>
          ))}
        </ul>
      )}
      {secrets.length === 0 ? null : (
        <ReasonButton variant="default" reason={reason} onClick={() => setAsking(true)}>
          Rotate secret
        </ReasonButton>
      )}
      <Confirm
        isOpen={isAsking}
        title="Rotate secret"
        verb="Rotate"
        keep="Keep the old secret"
        isBusy={rotate.isPending}
        onConfirm={() => rotate.mutate({ params: { integration_id: id }, body: { grace_hours: Number(grace) } })}
        onClose={() => setAsking(false)}
      >
        A new secret is made and shown once. Webhooks carry signatures of the old ones, too, until they end.
        <Select
          mt="md"
          label="Old secrets end"
          data={GRACE_CHOICES}
          value={grace}
          allowDeselect={false}
          onChange={(value) => setGrace(value ?? '24')}
        />
      </Confirm>
    </Stack>
  );
}
