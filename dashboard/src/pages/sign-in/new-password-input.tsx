import type { PasswordInputProps } from '@mantine/core';
import { PASSWORD_MAX_LENGTH, PASSWORD_MIN_LENGTH } from '../../../../src/contract/dashboard/limits.ts';
import { PasswordField } from '../../ui/fields/text-field.tsx';

export function NewPasswordInput(props: PasswordInputProps) {
  return (
    <PasswordField
      label="Password"
      description={`${PASSWORD_MIN_LENGTH} to ${PASSWORD_MAX_LENGTH} characters.`}
      autoComplete="new-password"
      minLength={PASSWORD_MIN_LENGTH}
      maxLength={PASSWORD_MAX_LENGTH}
      required
      {...props}
    />
  );
}
