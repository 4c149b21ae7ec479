import { Button, Skeleton, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { api, type Output } from '../../api/client.ts';
import { useOperation } from '../../api/queries.ts';
import { paths } from '../../paths.ts';
import { TextField } from '../../ui/fields/text-field.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { NewPasswordInput } from './new-password-input.tsx';
import { SignInFrame, useEnter } from './sign-in-frame.tsx';

type FoundLink = Output<'POST /links/look-up'>;

/** The token is the address's fragment, which browsers send to nobody. */
function useToken(): string {
  return useLocation().hash;
}

export function InvitationPage() {
  return (
    <LinkPage title="Join your team" kind="invitation">
      {(link, token) => <AcceptForm link={link} token={token} />}
    </LinkPage>
  );
}

export function ResetPage() {
  return (
    <LinkPage title="Set a new password" kind="reset">
      {(link, token) => <ResetForm link={link} token={token} />}
    </LinkPage>
  );
}

type LinkPageProps = {
  title: string;
  kind: FoundLink['kind'];
  children: (link: FoundLink, token: string) => ReactNode;
};

function LinkPage({ title, kind, children }: LinkPageProps) {
  const token = useToken();
  const { data, error } = useQuery({
    queryKey: ['link', token],
    queryFn: () => api('POST /links/look-up', { body: { token: token === '' ? '-' : token } }),
    retry: false,
  });
  const content = () => {
    if (error !== null) return <UselessLink why={error.message} />;
    if (data === undefined) return <Skeleton height={160} aria-label="Loading" />;
    if (data.kind !== kind) return <UselessLink why="This link is for something else." />;
    return children(data, token);
  };
  return <SignInFrame title={title}>{content()}</SignInFrame>;
}

/** Whoever opens a link a second time has mostly used it and only wants in. */
function UselessLink({ why }: { why: string }) {
  return (
    <Stack gap="sm">
      <Text role="alert">{why}</Text>
      <Text size="sm">
        If you have used it already, <TextLink to={paths.signIn()}>sign in</TextLink>.
      </Text>
    </Stack>
  );
}

function AcceptForm({ link, token }: { link: FoundLink; token: string }) {
  const enter = useEnter();
  const form = useForm({ initialValues: { name: '', password: '' } });
  const accept = useOperation('POST /links/accept', {
    onSuccess: enter,
    form,
  });
  return (
    <form onSubmit={form.onSubmit((values) => accept.mutate({ body: { token, ...values } }))}>
      <Stack>
        <Text size="sm">
          {link.organization_name} has invited you. You will sign in with {link.email}.
        </Text>
        <TextField label="Your name" autoComplete="name" maxLength={500} required {...form.getInputProps('name')} />
        <NewPasswordInput {...form.getInputProps('password')} />
        <Button type="submit" fullWidth loading={accept.isPending}>
          Join
        </Button>
      </Stack>
    </form>
  );
}

function ResetForm({ link, token }: { link: FoundLink; token: string }) {
  const enter = useEnter();
  const form = useForm({ initialValues: { password: '' } });
  const reset = useOperation('POST /links/reset', {
    onSuccess: enter,
    form,
  });
  return (
    <form onSubmit={form.onSubmit(({ password }) => reset.mutate({ body: { token, password } }))}>
      <Stack>
        <Text size="sm">For {link.email}. All sessions of this account end.</Text>
        <NewPasswordInput {...form.getInputProps('password')} />
        <Button type="submit" fullWidth loading={reset.isPending}>
          Set the password
        </Button>
      </Stack>
    </form>
  );
}
