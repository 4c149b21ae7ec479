import { Anchor, Button, Select, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useOperation } from '../../api/queries.ts';
import { paths } from '../../paths.ts';
import { TextField } from '../../ui/fields/text-field.tsx';
import { CURRENCIES } from '../settings/business-choices.ts';
import { NewPasswordInput } from './new-password-input.tsx';
import { SignInFrame, useEnter } from './sign-in-frame.tsx';
import { signInOptionsQuery } from './sign-in-routes.ts';

export function SignUpPage() {
  const options = useSuspenseQuery(signInOptionsQuery).data;
  const enter = useEnter();
  const form = useForm({
    initialValues: { organization_name: '', currency: '', name: '', email: '', password: '' },
    validate: { currency: (currency) => (currency === '' ? 'Choose one.' : null) },
  });
  const signUp = useOperation('POST /sign-up', {
    onSuccess: enter,
    form,
  });
  const signInLink = (
    <Anchor inherit renderRoot={(props) => <Link to={paths.signIn()} {...props} />}>
      Sign in
    </Anchor>
  );
  if (!options.sign_up) {
    return (
      <SignInFrame title="Sign up">
        <Text>Nobody can sign up here: ask the operator of this service. {signInLink}</Text>
      </SignInFrame>
    );
  }
  return (
    <SignInFrame title="Sign up">
      <form onSubmit={form.onSubmit((values) => signUp.mutate({ body: { ...values, time_zone: browserTimeZone() } }))}>
        <Stack>
          <TextField
            label="Name of your business"
            autoComplete="organization"
            maxLength={500}
            required
            autoFocus
            {...form.getInputProps('organization_name')}
          />
          <Select
            label="Currency"
            description="Of your own prices. Each website may show another one."
            data={CURRENCIES}
            placeholder="Choose one"
            searchable
            withAsterisk
            {...form.getInputProps('currency')}
            value={form.values.currency || null}
            onChange={(value) => form.setFieldValue('currency', value ?? '')}
          />
          <TextField label="Your name" autoComplete="name" maxLength={500} required {...form.getInputProps('name')} />
          <TextField
            label="Email"
            type="email"
            autoComplete="username"
            maxLength={254}
            required
            {...form.getInputProps('email')}
          />
          <NewPasswordInput {...form.getInputProps('password')} />
          <Button type="submit" fullWidth loading={signUp.isPending}>
            Sign up
          </Button>
          <Text size="sm">Already a customer? {signInLink}</Text>
        </Stack>
      </form>
    </SignInFrame>
  );
}

/** What the business begins with; owners change it in the settings. */
function browserTimeZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}
