import {
  AMOUNT_LIMIT,
  DESCRIPTION_LENGTH_LIMIT,
  STOCK_NUMBER_LENGTH_LIMIT,
  STRING_LENGTH_LIMIT,
  UNITS_LIMIT,
} from '../../../../../src/contract/limits.ts';
import { formatNumber } from '../../../format.ts';
import type { Kind } from '../../stock/stock-queries.ts';
import { ATTRIBUTES, type AttributeField } from '../attributes.ts';
import type { ItemValues } from './item-form.ts';

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
  check('price_amount', amountProblem(values.price_amount));
  check('cost_amount', amountProblem(values.cost_amount));
  check('units', values.units === null ? 'Enter a number.' : rangeProblem(values.units, 0, UNITS_LIMIT));
  for (const field of ATTRIBUTES[kind].flatMap(({ fields }) => fields)) {
    check(`attributes.${field.name}`, attributeProblem(field, values.attributes[field.name], isTyping));
  }
  return problems;
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

function amountProblem(amount: number | null): string | null {
  if (amount === null || (amount >= 0 && amount <= AMOUNT_LIMIT)) return null;
  return amount < 0 ? 'An amount can’t be below zero.' : 'This amount is too large.';
}

/** A year has no separator. */
export function shortNumber(value: number): string {
  return value < 10_000 ? String(value) : formatNumber(value);
}
