import { Anchor, Button, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useEffect, useState } from 'react';
import { queryClient, useOperation } from '../../api/queries.ts';
import { onSessionEnd, startNextSession } from '../../api/session-end.ts';
import { paths } from '../../paths.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { PasswordField } from '../../ui/fields/text-field.tsx';
import { useRecover } from '../recover.ts';
import { sessionQuery } from './session.ts';

/** A session that ends while somebody types: the password is asked for over the page, so nothing on it is lost. */
export function SessionEndedDialog() {
  const [isOpen, setOpen] = useState(false);
  const [password, setPassword] = useState('');
  const recover = useRecover();
  useEffect(() => onSessionEnd(() => setOpen(true)), []);
  const email = queryClient.getQueryData(sessionQuery.queryKey)?.user.email ?? '';
  const signIn = useOperation('POST /session', {
    onSuccess() {
      startNextSession();
      setOpen(false);
      setPassword('');
      void queryClient.invalidateQueries();
      void recover();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    signIn.mutate({ body: { email, password } });
  };
  return (
    <Dialog opened={isOpen} onClose={() => setOpen(false)} title="Your session has ended" closeOnClickOutside={false}>
      <form onSubmit={submit}>
        <Stack>
          <Text size="sm">Sign in again as {email}. Nothing on this page is lost.</Text>
          <PasswordField
            label="Password"
            autoComplete="current-password"
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
            data-autofocus
            required
          />
          <Button type="submit" loading={signIn.isPending}>
            Sign in
          </Button>
          <Anchor size="sm" renderRoot={(props) => <Link to={paths.signIn()} {...props} />}>
            Sign in as somebody else
          </Anchor>
        </Stack>
      </form>
    </Dialog>
  );
}
