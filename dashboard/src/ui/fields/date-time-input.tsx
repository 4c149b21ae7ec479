import { TextInput } from '@mantine/core';
import { useState } from 'react';
import { focusIfFirst } from './focus-if-first.ts';

type DateTimeInputProps = {
  label: string;
  description?: string;
  error?: string | undefined;
  size?: 'xs' | 'sm' | 'md';
  /** A local time: `2026-11-16T09:00`. */
  value: string | null;
  onChange: (value: string | null) => void;
};

/**
 * A date and time. To the browser a half-typed one is empty, and empty often means "now" or "no end"; so it says that it is
 * incomplete, and holds its form back.
 */
export function DateTimeInput({ label, description, error, size = 'sm', value, onChange }: DateTimeInputProps) {
  const [isIncomplete, setIncomplete] = useState(false);
  return (
    <TextInput
      type="datetime-local"
      label={label}
      description={description}
      size={size}
      value={value ?? ''}
      error={isIncomplete ? 'Complete the date and time, or clear the field.' : error}
      onChange={(event) => {
        if (!event.currentTarget.validity.badInput) setIncomplete(false);
        onChange(event.currentTarget.value || null);
      }}
      onBlur={(event) => setIncomplete(event.currentTarget.validity.badInput)}
      onInvalid={(event) => {
        event.preventDefault();
        setIncomplete(event.currentTarget.validity.badInput);
        focusIfFirst(event.currentTarget);
      }}
    />
  );
}
