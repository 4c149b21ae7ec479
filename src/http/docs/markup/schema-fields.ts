import { EXPECTED_ANNOTATION } from '../../../contract/openapi/openapi-schemas.ts';
import { EventEnvelope } from '../../../contract/resources/event.ts';
import type { Site } from '../page.ts';
import { type Html, html } from './html.ts';
import { counted, sentence } from './text.ts';

/** The part of JSON Schema that the contract uses. */
export type JsonSchema = {
  type?: string | string[];
  const?: unknown;
  enum?: readonly unknown[];
  anyOf?: readonly JsonSchema[];
  oneOf?: readonly JsonSchema[];
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  required?: readonly string[];
  description?: string;
  format?: string;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  $ref?: string;
  $id?: string;
  [EXPECTED_ANNOTATION]?: string;
};

export type Field = {
  path: string;
  schema: JsonSchema;
  description: string;
  isRequired: boolean;
  /** Where the fields inside it are described, if it is not here. */
  home: Home | null;
};

/** The place on the page that describes a resource. */
export type Home = { id: string; title: string };

/**
 * Every field of an object, those of objects inside it after it: `webhook.url`, `lines[].quantity`. A resource that
 * has a home on the page is described there alone.
 */
export function fieldsOf(schema: JsonSchema, homes: ReadonlyMap<string, Home> = new Map(), prefix = ''): Field[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const path = `${prefix}${name}`;
    const isRequired = schema.required?.includes(name) ?? false;
    const inner = objectIn(property);
    const home = homes.get(inner?.schema.$id ?? '') ?? null;
    const field = { path, schema: property, description: property.description ?? '', isRequired, home };
    if (inner === null || home !== null) return [field];
    return [field, ...fieldsOf(inner.schema, homes, `${path}${inner.suffix}.`)];
  });
}

/** Requests say which fields must be sent; in answers every field is there, so only requests mark them. */
export function fieldList(fields: readonly Field[], site: Site, { marksRequired }: { marksRequired: boolean }): Html {
  return html`<dl class="fields">${fields.map(
    ({ path, schema, description, isRequired, home }) => html`<div>
<dt><code>${path}</code><span class="kind">${typeText(schema)}</span>${
      marksRequired && isRequired ? html`<span class="required">required</span>` : null
    }</dt>
<dd>${sentence([description, limitsText(schema)].filter(Boolean).join(' '), site)}${
      home === null ? null : html` See <a href="#${home.id}">${home.title}</a>.`
    }</dd></div>`,
  )}</dl>`;
}

function typeText(schema: JsonSchema): string {
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1) ?? '';
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return 'enum';
  if (schema.oneOf !== undefined) return 'object';
  if (schema.anyOf !== undefined) {
    const isEnum = schema.anyOf.every((choice) => choice.const !== undefined);
    return isEnum ? 'enum' : [...new Set(schema.anyOf.map(typeText))].join(' or ');
  }
  if (schema.type === 'array') return `array of ${plural(typeText(schema.items ?? {}))}`;
  if (schema.format === 'date-time') return 'timestamp';
  return [schema.type ?? 'any'].flat().join(' or ');
}

function objectIn(schema: JsonSchema): { schema: JsonSchema; suffix: string } | null {
  // What events of all types have in common; each type is described with the webhooks.
  if (schema.items?.$id === 'Event') return { schema: EventEnvelope as JsonSchema, suffix: '[]' };
  if (schema.properties !== undefined) return { schema, suffix: '' };
  if (schema.items?.properties !== undefined) return { schema: schema.items, suffix: '[]' };
  for (const choice of schema.anyOf ?? []) {
    const found = objectIn(choice);
    if (found !== null) return found;
  }
  return null;
}

function limitsText(field: JsonSchema): string {
  const schema = withoutNull(field);
  const expected = schema[EXPECTED_ANNOTATION];
  const texts = [
    expected === undefined ? '' : `Must be ${expected}.`,
    valuesText(schema),
    rangeText(schema.minimum, schema.maximum, (value) => value.toLocaleString('en-US')),
    rangeText(schema.minLength || undefined, schema.maxLength, (value) => counted(value, 'character')),
    rangeText(schema.minItems || undefined, schema.maxItems, (value) => counted(value, 'item')),
    schema.default === undefined ? '' : `Default \`${String(schema.default)}\`.`,
  ];
  return texts.filter(Boolean).join(' ');
}

/** The limits of a field that may be null are those of its only other choice. */
function withoutNull({ anyOf, ...rest }: JsonSchema): JsonSchema {
  const [choice, ...others] = (anyOf ?? []).filter(({ type }) => type !== 'null');
  if (choice !== undefined && others.length === 0) return { ...rest, ...choice };
  return anyOf === undefined ? rest : { ...rest, anyOf };
}

function valuesText(schema: JsonSchema): string {
  const choices = schema.anyOf?.flatMap((choice) => choice.enum ?? (choice.const === undefined ? [] : [choice.const]));
  const values = schema.items?.enum ?? schema.enum ?? choices ?? [];
  return values.length === 0 ? '' : `One of ${values.map((value) => `\`${String(value)}\``).join(', ')}.`;
}

function rangeText(min: number | undefined, max: number | undefined, withUnit: (value: number) => string): string {
  if (max === undefined) return min === undefined || min === 0 ? '' : `At least ${withUnit(min)}.`;
  if (min === undefined) return `At most ${withUnit(max)}.`;
  return `From ${min.toLocaleString('en-US')} to ${withUnit(max)}.`;
}

function plural(noun: string): string {
  return /^[a-z]+$/.test(noun) && noun !== 'any' ? `${noun}s` : noun;
}
