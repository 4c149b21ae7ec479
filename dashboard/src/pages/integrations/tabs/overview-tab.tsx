import { Button, Checkbox, Group, Progress, Stack, Switch, Text, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useOperation } from '../../../api/queries.ts';
import { formatNumber } from '../../../format.ts';
import { useOwnerOnlyReason } from '../../../shell/session/session.ts';
import { CopyId } from '../../../ui/copy-id.tsx';
import { DocsLink } from '../../../ui/docs-link.tsx';
import { Confirm } from '../../../ui/feedback/confirm.tsx';
import { toastUndo } from '../../../ui/feedback/undo-toast.tsx';
import { TextField } from '../../../ui/fields/text-field.tsx';
import { LeaveGuard } from '../../../ui/page/leave-guard.tsx';
import { Time } from '../../../ui/time.tsx';
import { Facts, refreshIntegration } from '../integration-parts.tsx';
import { type Integration, usageQuery } from '../integration-queries.ts';
import { ReasonButton } from '../reason-button.tsx';
import { Command, meCommand } from '../shown-once.tsx';
import { Jobs } from './jobs.tsx';

export function OverviewTab({ integration }: { integration: Integration }) {
  const { id } = integration;
  const usage = useQuery(usageQuery(id)).data ?? integration;
  return (
    <Stack gap="xl" maw={760}>
      <Name integration={integration} />
      <Switches integration={integration} />
      <Stack gap="xs">
        <Title order={2} size="h4">
          Details
        </Title>
        <Facts
          facts={[
            ['Id', <CopyId key="id" id={id} />],
            ['API key', <code key="hint">{integration.key_hint}</code>],
            ['Key last used', usage.last_used_at === null ? 'never' : <Time key="used" at={usage.last_used_at} />],
            ['API version', <code key="version">{integration.api_version}</code>],
            ['Created', <Time key="created" at={integration.created_at} />],
          ]}
        />
        <RateGauge rate={usage.rate} />
      </Stack>
      <Jobs jobs={integration.jobs} />
      <Stack gap="xs">
        <Command label="Who am I, for this key" text={meCommand('$API_KEY')} />
        <Text size="sm" c="dimmed">
          What a website can do with the key is in the <DocsLink>developer documentation</DocsLink>.
        </Text>
      </Stack>
    </Stack>
  );
}

/** The share of the limit from which the gauge warns. */
const WARNING_SHARE = 0.9;

function RateGauge({ rate: { used, limit } }: { rate: Integration['rate'] }) {
  return (
    <>
      <Text size="sm">
        Rate limit: {formatNumber(used)} of {formatNumber(limit)} tokens used in the last 60 seconds
      </Text>
      <Progress
        value={(100 * used) / limit}
        color={used / limit > WARNING_SHARE ? 'ruby' : 'steel'}
        aria-label="Rate limit used"
      />
    </>
  );
}

function Name({ integration: { id, name } }: { integration: Integration }) {
  const form = useForm({ initialValues: { name } });
  const set = (next: string) => {
    form.setInitialValues({ name: next });
    form.setValues({ name: next });
    refreshIntegration(id);
  };
  const rename = useOperation('PATCH /integrations/{integration_id}', {
    form,
    onSuccess(_, { body = {} }) {
      set(body.name ?? name);
      toastUndo('Renamed.', () =>
        rename.mutate({ params: { integration_id: id }, body: { name } }, { onSuccess: () => set(name) }),
      );
    },
  });
  return (
    <form
      onSubmit={form.onSubmit((values) =>
        rename.mutate({ params: { integration_id: id }, body: { name: values.name } }),
      )}
    >
      <Group align="flex-end" gap="xs">
        <LeaveGuard isDirty={form.isDirty()} />
        <TextField label="Name" maxLength={500} required flex={1} maw={360} {...form.getInputProps('name')} />
        <Button type="submit" variant="default" disabled={form.values.name.trim() === name} loading={rename.isPending}>
          Rename
        </Button>
      </Group>
    </form>
  );
}

function Switches({ integration }: { integration: Integration }) {
  const { id, is_enabled: isEnabled } = integration;
  const toggle = useOperation('PATCH /integrations/{integration_id}', {
    onSuccess(_, { body = {} }) {
      refreshIntegration(id);
      const isOn = body.is_enabled === true;
      toastUndo(isOn ? 'Enabled.' : 'Disabled.', () => set(!isOn));
    },
  });
  const set = (isOn: boolean) => toggle.mutate({ params: { integration_id: id }, body: { is_enabled: isOn } });
  return (
    <Stack gap="md">
      <Switch
        label="Enabled"
        description="While it is off, every request of the website answers 403 and webhooks are held."
        checked={isEnabled}
        disabled={toggle.isPending}
        onChange={(event) => set(event.currentTarget.checked)}
      />
      <TestMode integration={integration} />
    </Stack>
  );
}

function TestMode({ integration }: { integration: Integration }) {
  const { id, is_test_mode: isTestMode, test_data: testData } = integration;
  const reason = useOwnerOnlyReason();
  const [isAsking, setAsking] = useState(false);
  const [isDeleting, setDeleting] = useState(true);
  const change = useOperation('PUT /integrations/{integration_id}/test-mode', {
    success: isTestMode ? 'This integration is live.' : 'This integration is in test mode.',
    onSuccess() {
      setAsking(false);
      refreshIntegration(id);
    },
  });
  const count = testData.orders + testData.customers;
  const counted = (number: number, what: string) => `${formatNumber(number)} test ${what}${number === 1 ? '' : 's'}`;
  const words = `${counted(testData.orders, 'order')} and ${counted(testData.customers, 'customer')}`;
  const confirm = () =>
    change.mutate({
      params: { integration_id: id },
      body: { is_test_mode: !isTestMode, delete_test_data: isTestMode && isDeleting && count > 0 },
    });
  return (
    <Stack gap={4} align="flex-start">
      <ReasonButton variant="default" reason={reason} onClick={() => setAsking(true)}>
        {isTestMode ? 'Go live' : 'Back to test mode'}
      </ReasonButton>
      <Text size="xs" c="dimmed">
        {isTestMode
          ? `In test mode orders touch no stock. It has ${words}.`
          : 'Orders of this website take stock at once.'}
      </Text>
      <Confirm
        isOpen={isAsking}
        title={isTestMode ? 'Go live' : 'Back to test mode'}
        verb={isTestMode ? 'Go live' : 'Switch to test mode'}
        keep={isTestMode ? 'Stay in test mode' : 'Stay live'}
        isBusy={change.isPending}
        onConfirm={confirm}
        onClose={() => setAsking(false)}
      >
        {isTestMode
          ? 'From the next request on, orders are real and take stock. Events that were recorded before are sent as tests.'
          : 'From the next request on, orders are tests and touch no stock. The website is told by is_test.'}
        {isTestMode && count > 0 ? (
          <Checkbox
            mt="md"
            label={`Delete ${words} for ever`}
            checked={isDeleting}
            onChange={(event) => setDeleting(event.currentTarget.checked)}
          />
        ) : null}
      </Confirm>
    </Stack>
  );
}
