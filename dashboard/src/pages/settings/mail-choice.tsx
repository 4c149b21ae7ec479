import { Button, Checkbox, Group, Stack, Text, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useSuspenseQuery } from '@tanstack/react-query';
import { MAIL_KIND_NAMES, MAIL_KINDS } from '../../../../src/contract/dashboard/mail-kinds.ts';
import { queryClient, useOperation } from '../../api/queries.ts';
import { useSession } from '../../shell/session/session.ts';
import { TextField } from '../../ui/fields/text-field.tsx';
import { mailChoiceQuery } from './settings-queries.ts';

/** What the person is told of by mail. Each box saves itself. */
export function MailChoice() {
  const { user } = useSession();
  const { is_available: isAvailable, is_confirmed: isConfirmed, kinds } = useSuspenseQuery(mailChoiceQuery).data;
  const change = useOperation('PUT /account/mail', {
    success: 'Saved.',
    onSuccess: (choice) => queryClient.setQueryData(mailChoiceQuery.queryKey, choice),
  });
  return (
    <section aria-labelledby="mail">
      <Title order={2} size="h4" id="mail">
        Mail
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        {isAvailable
          ? `Goes to ${user.email}, at most once an hour for each of these. It holds counts and links, nothing about your customers.`
          : 'This service sends no mail. Its operator can turn it on with the setting SMTP_URL.'}
      </Text>
      <Stack gap="xs">
        {(isAvailable ? MAIL_KIND_NAMES : []).map((kind) => (
          <Checkbox
            key={kind}
            label={MAIL_KINDS[kind]}
            checked={kinds.includes(kind)}
            disabled={change.isPending}
            onChange={({ currentTarget: { checked } }) =>
              change.mutate({ body: { kinds: checked ? [...kinds, kind] : kinds.filter((one) => one !== kind) } })
            }
          />
        ))}
        {isAvailable && !isConfirmed && kinds.length > 0 ? <ConfirmForm email={user.email} /> : null}
      </Stack>
    </section>
  );
}

/** Mail begins when the person has shown that it reaches them. */
function ConfirmForm({ email }: { email: string }) {
  const form = useForm({ initialValues: { code: '' } });
  const confirm = useOperation('POST /account/mail/confirmation', {
    success: 'Confirmed. Mail begins now.',
    onSuccess: (choice) => queryClient.setQueryData(mailChoiceQuery.queryKey, choice),
    form,
  });
  return (
    <form onSubmit={form.onSubmit((body) => confirm.mutate({ body }))}>
      <Text size="sm" mt="xs">
        We are sending a code to {email}. Mail begins when you have entered it. If it does not come, choose again
        tomorrow.
      </Text>
      <Group align="flex-start" gap="xs" mt="xs">
        <TextField
          aria-label="Code from the mail"
          placeholder="Code from the mail"
          autoComplete="one-time-code"
          maxLength={100}
          required
          {...form.getInputProps('code')}
        />
        <Button type="submit" loading={confirm.isPending}>
          Confirm
        </Button>
      </Group>
    </form>
  );
}
