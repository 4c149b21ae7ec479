import { Alert, Anchor, Button, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useOperation } from '../../api/queries.ts';
import { paths } from '../../paths.ts';
import { PasswordField, TextField } from '../../ui/fields/text-field.tsx';
import { SignInFrame, useEnter } from './sign-in-frame.tsx';
import { signInOptionsQuery } from './sign-in-routes.ts';

export function SignInPage() {
  const options = useSuspenseQuery(signInOptionsQuery).data;
  const enter = useEnter();
  const [problem, setProblem] = useState<string | null>(null);
  const form = useForm({ initialValues: { email: '', password: '' } });
  const signIn = useOperation('POST /session', { onSuccess: enter, onRefusal: setProblem });
  return (
    <SignInFrame title="Sign in">
      <form onSubmit={form.onSubmit((body) => signIn.mutate({ body }))}>
        <Stack>
          {problem === null ? null : (
            <Alert color="ruby" role="alert">
              {problem}
            </Alert>
          )}
          <TextField
            label="Email"
            type="email"
            autoComplete="username"
            required
            autoFocus
            {...form.getInputProps('email')}
          />
          <PasswordField
            label="Password"
            autoComplete="current-password"
            required
            {...form.getInputProps('password')}
          />
          <Button type="submit" fullWidth loading={signIn.isPending}>
            Sign in
          </Button>
          <Text size="sm" c="dimmed">
            Forgot your password? An owner of your team can make a reset link for you. If you are the only owner, ask
            the operator of this service.
          </Text>
          {options.sign_up ? (
            <Text size="sm">
              New here?{' '}
              <Anchor inherit renderRoot={(props) => <Link to={paths.signUp()} {...props} />}>
                Sign up
              </Anchor>
            </Text>
          ) : null}
        </Stack>
      </form>
    </SignInFrame>
  );
}
