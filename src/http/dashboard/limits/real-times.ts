import { DomainError } from '../../../contract/domain-error.ts';

/** The part of a JSON schema that says where times are. */
type TimesSchema = {
  format?: string;
  anyOf?: TimesSchema[];
  properties?: Record<string, TimesSchema>;
  items?: TimesSchema;
};

/**
 * Refuses times that are none of JavaScript's: the format `date-time` takes leap seconds, of which no Date can be made. Checked
 * once for all operations, so that a handler makes a Date of what it is given.
 */
export function assertRealTimes(schema: TimesSchema | null | undefined, value: unknown, field?: string): void {
  if (schema == null || value == null) return;
  for (const branch of schema.anyOf ?? []) assertRealTimes(branch, value, field);
  if (schema.format === 'date-time' && typeof value === 'string' && Number.isNaN(Date.parse(value))) {
    throw new DomainError(
      'invalid_input',
      `${field ?? 'This'} must be a time that exists, such as 2026-05-08T09:00:00Z.`,
      field,
    );
  }
  if (schema.items !== undefined && Array.isArray(value)) {
    for (const item of value) assertRealTimes(schema.items, item, field);
  }
  for (const [name, inner] of Object.entries(schema.properties ?? {})) {
    assertRealTimes(inner, (value as Record<string, unknown>)[name], field ?? name);
  }
}
