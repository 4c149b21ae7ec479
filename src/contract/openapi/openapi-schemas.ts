type Json = Record<string, unknown>;

/**
 * The schemas of the contract as OpenAPI shows them to people and to generators of clients. What the server checks is
 * decided by the contract itself; this only says the same in words that generators understand.
 */

/**
 * The schema of an answer. Every enumeration is open: a value may be added at any time, so a client must take one that it
 * has never seen. The known values stand first, a text of any kind after them.
 */
export function answerSchema(schema: unknown): unknown {
  return mapSchema(schema, (one) => withMaps(withOpenEnumeration(one)));
}

/** The schema of a request. */
export function requestSchema(schema: unknown): unknown {
  return mapSchema(schema, (one) => withMaps(withAnnotations(one)));
}

/** The name of a keyword that says in words what a pattern expects, for the message of an error. */
export const EXPECTED_ANNOTATION = 'x-expected';
/** The name of a keyword that says what a request must not be, and is not checked: the operation itself refuses it. */
export const NOT_ANNOTATION = 'x-not';

/** Applies a change to a schema and to every schema in it, the inner ones first. */
function mapSchema(schema: unknown, change: (schema: Json) => Json): unknown {
  if (Array.isArray(schema)) return schema.map((item) => mapSchema(item, change));
  if (schema === null || typeof schema !== 'object') return schema;
  const inner = Object.entries(schema).map(([key, value]) => {
    // Examples, defaults and values are data.
    if (DATA_KEYWORDS.has(key)) return [key, value];
    return [key, NAMED_SCHEMAS.has(key) ? mapEach(value as Json, change) : mapSchema(value, change)];
  });
  return change(Object.fromEntries(inner));
}

/** Schemas by names that are no keywords. */
function mapEach(schemas: Json, change: (schema: Json) => Json): Json {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, mapSchema(schema, change)]));
}

const NAMED_SCHEMAS = new Set(['properties', 'patternProperties']);
const DATA_KEYWORDS = new Set(['enum', 'const', 'default', 'examples', 'example', 'required', 'not', 'x-not']);

function withOpenEnumeration(schema: Json): Json {
  const { anyOf } = schema;
  // A union that has become nested, of an enumeration or null, is one union.
  if (Array.isArray(anyOf))
    return { ...schema, anyOf: anyOf.flatMap((one: Json) => (isOnlyUnion(one) ? one.anyOf : [one])) };
  if (!Array.isArray(schema.enum)) return schema;
  const { type, enum: values, ...rest } = schema;
  return { ...rest, anyOf: [{ type, enum: values }, { type }] };
}

function isOnlyUnion(schema: Json): schema is { anyOf: Json[] } {
  return Array.isArray(schema.anyOf) && schema.$id === undefined;
}

/** An object of any fields: generators know it by `additionalProperties`. */
function withMaps(schema: Json): Json {
  const { patternProperties, ...rest } = schema as { patternProperties?: Json };
  const [value, ...others] = Object.values(patternProperties ?? {});
  if (value === undefined || others.length > 0) return schema;
  return { ...rest, additionalProperties: value };
}

function withAnnotations(schema: Json): Json {
  const { [NOT_ANNOTATION]: not, [EXPECTED_ANNOTATION]: _, ...rest } = schema;
  return not === undefined ? rest : { ...rest, not };
}
