import {
  AMOUNT_LIMIT,
  DESCRIPTION_LENGTH_LIMIT,
  STOCK_NUMBER_LENGTH_LIMIT,
  STRING_LENGTH_LIMIT,
  UNITS_LIMIT,
} from '../../../../../src/contract/limits.ts';
import { formatNumber } from '../../../format.ts';
import { UNREADABLE } from '../../../ui/fields/decimal-input.tsx';
import type { Kind } from '../../stock/stock-queries.ts';
import { ATTRIBUTES, type AttributeField } from '../attributes.ts';
import { changedFields, type ItemValues } from './item-form.ts';

/**
 * What the service would refuse, by field, said before it is asked. While somebody types, what is still empty is not held
 * against them.
 */
export function problemsOf(kind: Kind, values: ItemValues, { isTyping = false } = {}): Record<string, string> {
  const problems: Record<string, string> = {};
  const check = (field: string, problem: string | null) => {
    if (problem !== null) problems[field] = problem;
  };
  check('title', textProblem(values.title, STRING_LENGTH_LIMIT, !isTyping));
  check('stock_number', textProblem(values.stock_number, STOCK_NUMBER_LENGTH_LIMIT, !isTyping));
  check('description', textProblem(values.description, DESCRIPTION_LENGTH_LIMIT, false));
  check('private_notes', textProblem(values.private_notes, DESCRIPTION_LENGTH_LIMIT, false));
  check('price_amount', amountProblem(values.price_amount, isTyping));
  check('cost_amount', amountProblem(values.cost_amount, isTyping));
  check('units', values.units === null ? 'Enter a number.' : rangeProblem(values.units, 0, UNITS_LIMIT));
  for (const field of ATTRIBUTES[kind].flatMap(({ fields }) => fields)) {
    check(`attributes.${field.name}`, attributeProblem(field, values.attributes[field.name], isTyping));
  }
  return problems;
}

/** Of the messages about a form, those about fields that were not touched since. */
export function untouched(
  errors: Record<string, string>,
  before: ItemValues,
  changes: Partial<ItemValues>,
): Record<string, string> {
  const { attributes = {}, ...fields } = changedFields(before, { ...before, ...changes });
  const touched = new Set([...Object.keys(fields), ...Object.keys(attributes).map((name) => `attributes.${name}`)]);
  return Object.fromEntries(Object.entries(errors).filter(([field]) => !touched.has(field)));
}

function attributeProblem(field: AttributeField, value: unknown, isTyping: boolean): string | null {
  if (field.type === 'number') return rangeProblem(value, field.min, field.max);
  const isMissing = field.isRequired === true && (value === null || value === undefined || value === '');
  return isMissing && !isTyping ? 'This is required.' : null;
}

function textProblem(text: string, limit: number, isRequired: boolean): string | null {
  if (isRequired && text.trim() === '') return 'This is required.';
  return text.length > limit ? `At most ${formatNumber(limit)} characters.` : null;
}

function rangeProblem(value: unknown, min: number, max: number): string | null {
  if (typeof value !== 'number') return null;
  if (value >= min && value <= max) return null;
  return `Enter a number from ${shortNumber(min)} to ${shortNumber(max)}.`;
}

function amountProblem(amount: number | null, isTyping: boolean): string | null {
  // The field says what is wrong with it once it is left.
  if (amount === UNREADABLE) return isTyping ? null : 'Enter an amount.';
  if (amount === null || (amount >= 0 && amount <= AMOUNT_LIMIT)) return null;
  return amount < 0 ? 'An amount can’t be below zero.' : 'This amount is too large.';
}

/** A year has no separator. */
export function shortNumber(value: number): string {
  return value < 10_000 ? String(value) : formatNumber(value);
}
