import { Button, Group, Stack, Text, TextInput, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { queryClient, useOperation } from '../../../api/queries.ts';
import { paths } from '../../../paths.ts';
import { useOwnerOnlyReason } from '../../../shell/session/session.ts';
import { Dialog } from '../../../ui/dialog.tsx';
import { Confirm } from '../../../ui/feedback/confirm.tsx';
import { refreshIntegration } from '../integration-parts.tsx';
import { type Integration, integrationsQuery } from '../integration-queries.ts';
import { ReasonButton } from '../reason-button.tsx';
import { ShownOnceDialog } from '../shown-once.tsx';

export function DangerTab({ integration }: { integration: Integration }) {
  return (
    <Stack gap="xl" maw={760}>
      <RegenerateKey integration={integration} />
      <DeleteIntegration integration={integration} />
    </Stack>
  );
}

function Danger({ title, text, children }: { title: string; text: string; children: ReactNode }) {
  return (
    <Stack gap="xs" align="flex-start">
      <Title order={2} size="h4">
        {title}
      </Title>
      <Text size="sm">{text}</Text>
      {children}
    </Stack>
  );
}

function RegenerateKey({ integration: { id, key_hint: hint } }: { integration: Integration }) {
  const reason = useOwnerOnlyReason();
  const [isAsking, setAsking] = useState(false);
  const [key, setKey] = useState<string | null>(null);
  const regenerate = useOperation('POST /integrations/{integration_id}/key', {
    onSuccess({ api_key: made }) {
      setAsking(false);
      setKey(made);
      refreshIntegration(id);
    },
  });
  return (
    <Danger title="API key" text={`The key begins with ${hint} A new one ends it at once.`}>
      <ReasonButton variant="default" reason={reason} onClick={() => setAsking(true)}>
        Regenerate key
      </ReasonButton>
      <Confirm
        isOpen={isAsking}
        title="Regenerate key"
        verb="Regenerate"
        keep="Keep the old key"
        isDangerous
        isBusy={regenerate.isPending}
        onConfirm={() => regenerate.mutate({ params: { integration_id: id } })}
        onClose={() => setAsking(false)}
      >
        The old key is unknown from the next request on. The website answers its visitors without your stock until it
        has the new one.
      </Confirm>
      <ShownOnceDialog
        title="New API key"
        label="API key"
        value={key}
        note="It is shown this once."
        onClose={() => setKey(null)}
      />
    </Danger>
  );
}

function DeleteIntegration({ integration: { id, name } }: { integration: Integration }) {
  const navigate = useNavigate();
  const reason = useOwnerOnlyReason();
  const [isAsking, setAsking] = useState(false);
  const form = useForm({ initialValues: { name: '' } });
  const close = () => {
    form.reset();
    setAsking(false);
  };
  const remove = useOperation('DELETE /integrations/{integration_id}', {
    form,
    success: 'Its key is unknown now. Its records are being removed.',
    onSuccess() {
      void queryClient.invalidateQueries({ queryKey: integrationsQuery.queryKey });
      void navigate({ to: paths.integrations(), ignoreBlocker: true });
    },
  });
  return (
    <Danger
      title="Delete for ever"
      text="Its key is unknown at once, and its events, deliveries, orders and test data are removed. This can’t be undone."
    >
      <ReasonButton variant="outline" color="ruby" reason={reason} onClick={() => setAsking(true)}>
        Delete integration
      </ReasonButton>
      <Dialog opened={isAsking} onClose={close} title="Delete integration">
        <form onSubmit={form.onSubmit((values) => remove.mutate({ params: { integration_id: id }, body: values }))}>
          <Stack>
            <TextInput label={`Type ${name} to confirm`} autoComplete="off" {...form.getInputProps('name')} />
            <Group justify="flex-end">
              <Button variant="default" onClick={close}>
                Keep the integration
              </Button>
              <Button type="submit" color="ruby" disabled={form.values.name.trim() !== name} loading={remove.isPending}>
                Delete for ever
              </Button>
            </Group>
          </Stack>
        </form>
      </Dialog>
    </Danger>
  );
}
