import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import type { Output } from '../../../api/client.ts';
import { queryClient, useOperation } from '../../../api/queries.ts';
import { LeaveGuard } from '../../../ui/page/leave-guard.tsx';
import { Status } from '../../../ui/status.tsx';
import { shownError } from '../../deliveries/attempts/plain-error.ts';
import { integrationQuery } from '../integration-queries.ts';
import { ReasonButton } from '../reason-button.tsx';
import { Answer } from './test-event.tsx';

type Check = Output<'POST /integrations/{integration_id}/webhook/check'>;
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
  const [check, setCheck] = useState<Check | null>(null);
  const checking = useOperation('POST /integrations/{integration_id}/webhook/check', { onSuccess: setCheck });
  const save = useOperation('PUT /integrations/{integration_id}/webhook/url', {
    form,
    onSuccess(saved) {
      form.setInitialValues({ url: saved.url ?? '' });
      form.setValues({ url: saved.url ?? '' });
      void queryClient.invalidateQueries({ queryKey: integrationQuery(integrationId).queryKey });
      if (saved.secret !== null) onSecret(saved.secret);
      if (saved.url === null) return setCheck(null);
      onSaved?.();
      checking.mutate({ params });
    },
  });
  const submit = () => reason === null && save.mutate({ params, body: { url: form.values.url.trim() || null } });
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
          placeholder="https://shop.example/webhooks"
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
    </form>
  );
}

function CheckResult({ check }: { check: Check | null }) {
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
