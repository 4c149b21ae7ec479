import { TextInput } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { focusIfFirst } from './focus-if-first.ts';
import { editableDecimal, formatDecimal, parseDecimal } from './parse-decimal.ts';

/**
 * Stands for what can't be read. Every operation refuses it, and NaN would arrive there as null, which often means "none".
 */
export const UNREADABLE = Number.MIN_SAFE_INTEGER;

export type DecimalInputProps = {
  label: string;
  /** Units are 10^-decimals: hundredths for two. */
  decimals: number;
  /** `UNREADABLE` while what is typed is no number. */
  units: number | null;
  /** The bounds, in units. */
  min?: number;
  max?: number;
  placeholder?: string | undefined;
  description?: string | undefined;
  error?: string | undefined;
  size?: 'xs' | 'sm' | 'md';
  isFocused?: boolean;
  /** `UNREADABLE` for what is no number, or is out of bounds. A form that has such a field is not sent. */
  onChange: (units: number | null) => void;
  onBlur?: (() => void) | undefined;
};

/**
 * A number with thousands and decimals, as people of all locales type it. It stays as it was typed until the field is left, and
 * then shows what was understood. What can't be understood is never corrected in silence: it stays, with the reason.
 */
export function DecimalInput(props: DecimalInputProps) {
  const { label, decimals, units, placeholder, description, error, size = 'sm', isFocused, onChange, onBlur } = props;
  const input = useRef<HTMLInputElement>(null);
  const [isActive, setActive] = useState(false);
  const [typed, setTyped] = useState<({ text: string } & Reading) | null>(null);
  // The form may have another value by now, as after Discard.
  const current = typed !== null && typed.units === units ? typed : null;
  const problem = current?.problem ?? null;
  const format = isActive ? editableDecimal : formatDecimal;
  const shown = units === null || units === UNREADABLE ? '' : format(units, decimals);
  // Of what somebody is still typing, only a form that is being sent says that it is wrong. What is beyond the bounds at once: no
  // further digit mends it.
  const [isAsked, setAsked] = useState(false);
  useEffect(() => input.current?.setCustomValidity(problem ?? ''), [problem]);
  const activate = (field: HTMLInputElement) => {
    if (document.activeElement !== field) return;
    const digits = [field.selectionStart, field.selectionEnd].map((at) => digitsIn(field.value.slice(0, at ?? 0)));
    const isAll = field.selectionStart === 0 && field.selectionEnd === field.value.length;
    flushSync(() => setActive(true));
    if (isAll) return field.select();
    const [start = 0, end = 0] = digits.map((count) => placeBehind(field.value, count));
    field.setSelectionRange(start, end);
  };
  return (
    <TextInput
      ref={input}
      label={label}
      placeholder={placeholder}
      description={description}
      size={size}
      inputMode={(props.min ?? 0) < 0 ? 'text' : 'decimal'}
      autoComplete="off"
      maxLength={LENGTH_LIMIT}
      data-autofocus={isFocused || undefined}
      value={current?.text ?? shown}
      error={(isActive && !isAsked && current?.isBeyond !== true ? null : problem) ?? error}
      // Only then the browser has put the caret, or selected all for whoever comes with the Tab key.
      onFocus={({ currentTarget }) => setTimeout(() => activate(currentTarget))}
      onBlur={() => {
        setActive(false);
        setAsked(false);
        if (problem === null) setTyped(null);
        onBlur?.();
      }}
      onInvalid={(event) => {
        event.preventDefault();
        setAsked(true);
        focusIfFirst(event.currentTarget);
      }}
      onChange={(event) => {
        const text = event.currentTarget.value;
        const next = readWithin(text, props);
        setTyped({ text, ...next });
        onChange(next.units);
      }}
    />
  );
}

const LENGTH_LIMIT = 40;

function digitsIn(text: string): number {
  return text.replaceAll(/\D/g, '').length;
}

/** Where the caret stands behind so many digits of a text. */
function placeBehind(text: string, digits: number): number {
  for (let place = 0; place < text.length; place++) {
    if (digitsIn(text.slice(0, place)) === digits) return place;
  }
  return text.length;
}

type Reading = { units: number | null; problem: string | null; isBeyond: boolean };

function readWithin(text: string, { decimals, min = 0, max }: DecimalInputProps): Reading {
  const parsed = parseDecimal(text, decimals);
  if ('problem' in parsed) return { units: UNREADABLE, problem: parsed.problem, isBeyond: false };
  const { units } = parsed;
  if (units === null || (units >= min && (max === undefined || units <= max))) {
    return { units, problem: null, isBeyond: false };
  }
  const [from, to] = [formatDecimal(min, decimals), max === undefined ? null : formatDecimal(max, decimals)];
  const problem = to === null ? `Enter ${from} or more.` : `Enter a number from ${from} to ${to}.`;
  return { units: UNREADABLE, problem, isBeyond: units > min || units < 0 };
}
