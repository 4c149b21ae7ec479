import type { ErrorObject } from 'ajv';
import { EXPECTED_ANNOTATION } from '../../contract/openapi/openapi-schemas.ts';
import { kindOf, shownText } from '../../contract/shown-value.ts';

/**
 * A fault of validation in words: what was expected and what came. A pattern is never shown; its schema says in words
 * what is expected. The value itself is shown only where a number, a boolean or one of some values was expected: a free
 * text may be about a person or be a password, so only its kind or length is named.
 */
export function validationMessage(fault: ErrorObject): string {
  const { limit } = fault.params;
  const { data } = fault;
  switch (fault.keyword) {
    case 'required':
    case 'dependentRequired':
      return 'is required';
    case 'type':
      return `must be ${expectedTypes(fault)}, not ${cameInstead(fault)}`;
    case 'enum':
      return `must be one of ${(fault.params.allowedValues as unknown[]).join(', ')}, not ${shown(data)}`;
    case 'const':
      return `must be ${shown(fault.params.allowedValue)}, not ${shown(data)}`;
    case 'minimum':
      return `must be at least ${limit}, not ${shown(data)}`;
    case 'maximum':
      return `must be at most ${limit}, not ${shown(data)}`;
    case 'exclusiveMinimum':
      return `must be more than ${limit}, not ${shown(data)}`;
    case 'exclusiveMaximum':
      return `must be less than ${limit}, not ${shown(data)}`;
    case 'multipleOf':
      return `must be a multiple of ${fault.params.multipleOf}, not ${shown(data)}`;
    case 'minLength':
      return limit === 1 ? 'must not be empty' : `must have at least ${limit} characters, not ${charactersOf(data)}`;
    case 'maxLength':
      return `must have at most ${limit} characters, not ${charactersOf(data)}`;
    case 'minItems':
      return limit === 1 ? 'must not be empty' : `must have at least ${limit} items, not ${sizeOf(data)}`;
    case 'maxItems':
      // A large body is parsed only up to one item more than a list may have, so the number of items is not known.
      return `must have at most ${limit} items`;
    case 'minProperties':
      return limit === 1 ? 'must not be empty' : `must have at least ${limit} fields, not ${sizeOf(data)}`;
    case 'maxProperties':
      return `must have at most ${limit} fields, not ${sizeOf(data)}`;
    case 'uniqueItems':
      return `must not have the same item twice: items ${fault.params.i} and ${fault.params.j} are equal`;
    case 'additionalProperties':
      return `must not have the field ${shownText(String(fault.params.additionalProperty))}`;
    case 'pattern':
    case 'format':
      return `must be ${expectedForm(fault)}`;
    default:
      return 'is not what this field takes';
  }
}

/** Numbers, booleans and enumerated values say nothing about a person. */
function shown(value: unknown): string {
  if (typeof value === 'string') return shownText(value);
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : kindOf(value);
}

const TELLING_TYPES = new Set(['integer', 'number', 'boolean', 'null']);

function expectedTypes({ params }: ErrorObject): string {
  return [params.type].flat().map(withArticle).join(' or ');
}

function cameInstead({ params, data }: ErrorObject): string {
  const isTelling = [params.type].flat().every((type) => TELLING_TYPES.has(type));
  return isTelling ? shown(data) : kindOf(data);
}

const FORMS: Readonly<Record<string, string>> = {
  'date-time': 'an ISO 8601 time, such as 2026-05-08T09:00:00Z',
  date: 'a date, such as 2026-05-08',
  email: 'an email address, such as ana@example.com',
  uri: 'a URL, such as https://shop.example/hook',
};

function expectedForm({ parentSchema, params }: ErrorObject): string {
  const { [EXPECTED_ANNOTATION]: expected } = (parentSchema ?? {}) as Record<string, unknown>;
  return typeof expected === 'string' ? expected : (FORMS[String(params.format)] ?? 'in another form');
}

function charactersOf(value: unknown): number {
  let count = 0;
  for (const _ of String(value)) count += 1;
  return count;
}

function sizeOf(value: unknown): number {
  return Array.isArray(value) ? value.length : Object.keys(value as object).length;
}

function withArticle(type: string): string {
  if (type === 'null') return type;
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}
