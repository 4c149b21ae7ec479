import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { queryClient, useOperation } from '../../../api/queries.ts';
import { Confirm } from '../../../ui/feedback/confirm.tsx';
import { toastSuccess } from '../../../ui/feedback/toasts.ts';
import { LeaveGuard } from '../../../ui/page/leave-guard.tsx';
import { Status } from '../../../ui/status.tsx';
import { shownError } from '../../deliveries/attempts/plain-error.ts';
import { integrationQuery, keepCheck, useLastCheck, type WebhookCheck } from '../integration-queries.ts';
import { ReasonButton } from '../reason-button.tsx';
import { Answer } from './test-event.tsx';

type UrlFormProps = {
  integrationId: string;
  url: string | null;
  reason: string | null;
  onSecret: (secret: string) => void;
  onSaved?: () => void;
};

/** The webhook URL. When it is saved, a signed request goes there at once, and its answer is shown. */
export function UrlForm({ integrationId, url, reason, onSecret, onSaved }: UrlFormProps) {
  const params = { integration_id: integrationId };
  const form = useForm({ initialValues: { url: url ?? '' } });
  const [isAsking, setAsking] = useState(false);
  const check = useLastCheck(integrationId);
  const checking = useOperation('POST /integrations/{integration_id}/webhook/check', {
    onSuccess: (answer) => keepCheck(integrationId, answer),
  });
  const save = useOperation('PUT /integrations/{integration_id}/webhook/url', {
    form,
    onSuccess(saved) {
      form.setInitialValues({ url: saved.url ?? '' });
      form.setValues({ url: saved.url ?? '' });
      void queryClient.invalidateQueries({ queryKey: integrationQuery(integrationId).queryKey });
      if (saved.secret !== null) onSecret(saved.secret);
      setAsking(false);
      if (saved.url === null) {
        keepCheck(integrationId, null);
        return toastSuccess('The webhook URL is removed.');
      }
      onSaved?.();
      checking.mutate({ params });
    },
  });
  const next = form.values.url.trim() || null;
  const saveNow = () => save.mutate({ params, body: { url: next } });
  const submit = () => {
    if (reason !== null) return;
    if (url !== null && next === null) return setAsking(true);
    saveNow();
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <LeaveGuard isDirty={form.isDirty()} />
      <Stack gap="xs">
        <TextInput
          label="Webhook URL"
          description="Where events are posted: https, at most 2,000 characters. Empty sends nothing."
          placeholder="e.g. https://shop.example/webhooks"
          type="text"
          inputMode="url"
          maxLength={2_000}
          readOnly={reason !== null}
          {...form.getInputProps('url')}
        />
        <Group gap="xs">
          <ReasonButton variant="default" reason={reason} loading={save.isPending} onClick={submit}>
            Save and check
          </ReasonButton>
          {url === null ? null : (
            <Button
              type="button"
              variant="subtle"
              loading={checking.isPending && !save.isPending}
              onClick={() => checking.mutate({ params })}
            >
              Check again
            </Button>
          )}
        </Group>
        {checking.isPending ? (
          <Text size="sm" c="dimmed" role="status">
            Posting a signed request…
          </Text>
        ) : (
          <CheckResult check={check} />
        )}
      </Stack>
      <Confirm
        isOpen={isAsking}
        title="Remove the webhook URL?"
        verb="Remove the URL"
        keep="Keep the URL"
        isDangerous
        isBusy={save.isPending}
        onConfirm={saveNow}
        onClose={() => setAsking(false)}
      >
        From now on nothing is sent to this website. What happens without a URL is recorded as events, and not sent
        later. What waits to be sent already goes to the next URL that you set.
      </Confirm>
    </form>
  );
}

function CheckResult({ check }: { check: WebhookCheck | null }) {
  if (check === null) return null;
  const answer = check.response_code === null ? 'No answer' : `Answered ${check.response_code}`;
  return (
    <div className="panel" role="status">
      <Stack gap={4}>
        <Status tone={check.is_success ? 'good' : 'bad'}>{`${answer} after ${check.duration_ms} ms`}</Status>
        {check.error === null ? null : <Text size="sm">{shownError(check.error)}</Text>}
        {check.is_success ? null : (
          <Text size="sm">The URL is saved. Events that the website does not answer with 2xx are tried again.</Text>
        )}
        {check.response_body === null ? null : <Answer text={check.response_body} />}
      </Stack>
    </div>
  );
}
