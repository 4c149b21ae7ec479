import { Button, Group, Input, Stack, Switch, Text, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useSuspenseQuery } from '@tanstack/react-query';
import { PASSWORD_MAX_LENGTH, PASSWORD_MIN_LENGTH } from '../../../../src/contract/dashboard/limits.ts';
import type { Output } from '../../api/client.ts';
import { queryClient, useOperation } from '../../api/queries.ts';
import { sessionQuery, useSession } from '../../shell/session/session.ts';
import { DoubleClickGuard } from '../../ui/double-click-guard.tsx';
import { PasswordField, TextField } from '../../ui/fields/text-field.tsx';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/time.tsx';
import { MailChoice } from './mail-choice.tsx';
import { sessionsQuery } from './settings-queries.ts';
import { SettingsPage } from './settings-tabs.tsx';

export function AccountPage() {
  return (
    <SettingsPage>
      <Stack gap="xl" maw={560}>
        <Person />
        <MailChoice />
        <Password />
        <Sessions />
      </Stack>
    </SettingsPage>
  );
}

function keepSession(session: Output<'GET /session'>): void {
  queryClient.setQueryData(sessionQuery.queryKey, session);
}

function Person() {
  const { user } = useSession();
  const form = useForm({ initialValues: { name: user.name } });
  const save = useOperation('PATCH /account', {
    success: 'Saved.',
    onSuccess(session) {
      keepSession(session);
      form.resetDirty({ name: session.user.name });
    },
    form,
  });
  const showTestData = useOperation('PATCH /account', {
    onSuccess(session) {
      keepSession(session);
      void queryClient.invalidateQueries();
    },
  });
  return (
    <section aria-labelledby="person">
      <Title order={2} size="h4" id="person" mb="sm">
        You
      </Title>
      <form onSubmit={form.onSubmit(({ name }) => save.mutate({ body: { name } }))}>
        <Stack gap="sm">
          <TextField label="Name" maxLength={500} required {...form.getInputProps('name')} />
          <Input.Wrapper
            label="Email"
            labelElement="div"
            description="An operator can change it."
            inputWrapperOrder={['label', 'input', 'description']}
          >
            <Text size="sm">{user.email}</Text>
          </Input.Wrapper>
          <Group>
            <Button type="submit" disabled={!form.isDirty()} loading={save.isPending}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
      <Switch
        mt="lg"
        label="Show test data"
        description="Lists show orders and customers of integrations in test mode, too."
        checked={user.show_test_data}
        disabled={showTestData.isPending}
        onChange={(event) => showTestData.mutate({ body: { show_test_data: event.currentTarget.checked } })}
      />
    </section>
  );
}

function Password() {
  const form = useForm({ initialValues: { current_password: '', new_password: '' } });
  const change = useOperation('POST /account/password', {
    success: 'Password changed. Your other sessions have ended.',
    onSuccess() {
      form.reset();
      void queryClient.invalidateQueries({ queryKey: sessionsQuery.queryKey });
    },
    form,
  });
  return (
    <section aria-labelledby="password">
      <Title order={2} size="h4" id="password" mb="sm">
        Password
      </Title>
      <form onSubmit={form.onSubmit((body) => change.mutate({ body }))}>
        <Stack gap="sm">
          <PasswordField
            label="Current password"
            autoComplete="current-password"
            required
            {...form.getInputProps('current_password')}
          />
          <PasswordField
            label="New password"
            description={`${PASSWORD_MIN_LENGTH} to ${PASSWORD_MAX_LENGTH} characters.`}
            autoComplete="new-password"
            minLength={PASSWORD_MIN_LENGTH}
            maxLength={PASSWORD_MAX_LENGTH}
            required
            {...form.getInputProps('new_password')}
          />
          <Group>
            <Button type="submit" variant="default" loading={change.isPending}>
              Change password
            </Button>
          </Group>
        </Stack>
      </form>
    </section>
  );
}

function Sessions() {
  const { data } = useSuspenseQuery(sessionsQuery).data;
  const refresh = () => void queryClient.invalidateQueries({ queryKey: sessionsQuery.queryKey });
  const revoke = useOperation('DELETE /account/sessions/{session_id}', {
    success: 'Session ended.',
    onSuccess: refresh,
  });
  const revokeOthers = useOperation('DELETE /account/sessions', {
    success: 'All other sessions have ended.',
    onSuccess: refresh,
  });
  return (
    <section aria-labelledby="sessions">
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h4" id="sessions">
          Where you are signed in
        </Title>
        {data.length < 2 ? null : (
          <Button variant="default" size="xs" onClick={() => revokeOthers.mutate({})}>
            End all others
          </Button>
        )}
      </Group>
      <DoubleClickGuard shows={data.map(({ id }) => id).join()}>
        <ul className="plain-list">
          {data.map((session) => (
            <li key={session.id}>
              <div>
                <Text size="sm">{browserOf(session.user_agent)}</Text>
                <Text size="xs" c="dimmed">
                  {session.ip_address ?? 'unknown address'} · seen{' '}
                  {session.is_current ? 'now' : <Time at={session.last_seen_at} />}
                </Text>
              </div>
              {session.is_current ? (
                <Status tone="good">This one</Status>
              ) : (
                <Button
                  variant="subtle"
                  size="xs"
                  color="ruby"
                  onClick={() => revoke.mutate({ params: { session_id: session.id } })}
                >
                  End
                </Button>
              )}
            </li>
          ))}
        </ul>
      </DoubleClickGuard>
    </section>
  );
}

/** As much of a user agent as people recognise. */
function browserOf(agent: string | null): string {
  if (agent === null) return 'Unknown browser';
  const browser = /(Firefox|Edg|Chrome|Safari)\//.exec(agent)?.[1]?.replace('Edg', 'Edge') ?? 'Browser';
  const system = /(Windows|Android|iPhone|iPad|Mac OS X|Linux)/.exec(agent)?.[1]?.replace('Mac OS X', 'macOS');
  return system === undefined ? browser : `${browser} on ${system}`;
}
