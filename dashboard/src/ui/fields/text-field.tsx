import { PasswordInput, type PasswordInputProps, TextInput, type TextInputProps } from '@mantine/core';
import { type ComponentType, type FormEvent, useState } from 'react';
import { focusIfFirst } from './focus-if-first.ts';

type FieldProps = Pick<TextInputProps, 'error' | 'onChange' | 'onInvalid'>;

/** A text of a form. What is missing or wrong stands beside the field in our words, not in a bubble of the browser. */
export const TextField = withOwnWords<TextInputProps>(TextInput);
export const PasswordField = withOwnWords<PasswordInputProps>(PasswordInput);

function withOwnWords<Props extends FieldProps>(Field: ComponentType<Props>): ComponentType<Props> {
  return function FieldWithOwnWords(props: Props) {
    const [problem, setProblem] = useState<string | null>(null);
    return (
      <Field
        {...props}
        error={problem ?? props.error}
        onInvalid={(event: FormEvent<HTMLInputElement>) => {
          event.preventDefault();
          setProblem(problemOf(event.currentTarget));
          focusIfFirst(event.currentTarget);
        }}
        onChange={(event) => {
          setProblem(null);
          props.onChange?.(event);
        }}
      />
    );
  };
}

function problemOf({ type, minLength, validity, validationMessage }: HTMLInputElement): string {
  if (validity.valueMissing) return 'Fill this in.';
  if (validity.typeMismatch && type === 'email') return 'Enter an email address, such as name@example.com.';
  if (validity.tooShort) return `Enter at least ${minLength} characters.`;
  return validationMessage;
}
