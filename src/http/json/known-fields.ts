import { ARRAY_CLOSE, ARRAY_OPEN, COMMA, JsonCursor, OBJECT_CLOSE, OBJECT_OPEN, QUOTE } from './json-tokens.ts';
import { readOpenValue } from './open-value.ts';
import { isOpen, partOf, type Shape } from './shape.ts';
import type { JsonPath, UnknownNames } from './unknown-names.ts';

/**
 * Parses a text as JSON.parse does, but builds only what the shape knows: members of other names are passed over and noted, of
 * a list only one item more than it may have, and where a field has a container that it may not have, an empty one of its
 * kind. The validation says the same about it.
 */
export function* readKnownFields(text: string, shape: Shape, unknown: UnknownNames): Generator<void, unknown> {
  const cursor = new JsonCursor(text);
  const value = yield* readValue({ cursor, unknown }, shape, null);
  cursor.expectEnd();
  return value;
}

type Reading = { cursor: JsonCursor; unknown: UnknownNames };

/** Goes only as deep as the shape. */
function* readValue(reading: Reading, shape: Shape, at: JsonPath): Generator<void, unknown> {
  const { cursor } = reading;
  if (cursor.isPauseDue()) yield;
  switch (cursor.peek()) {
    case QUOTE:
      return yield* cursor.string();
    case OBJECT_OPEN: {
      const properties = partOf(shape, 'properties');
      if (properties !== undefined) return yield* readObject(reading, properties, at);
      if (isOpen(shape, 'object')) return yield* readOpenValue(cursor);
      yield* cursor.skipValue();
      return {};
    }
    case ARRAY_OPEN: {
      const items = partOf(shape, 'items');
      if (items !== undefined) return yield* readArray(reading, items, partOf(shape, 'maxItems'), at);
      if (isOpen(shape, 'array')) return yield* readOpenValue(cursor);
      yield* cursor.skipValue();
      return [];
    }
    default:
      return cursor.scalar();
  }
}

function* readObject(
  reading: Reading,
  properties: Record<string, Shape>,
  at: JsonPath,
): Generator<void, Record<string, unknown>> {
  const { cursor, unknown } = reading;
  const object: Record<string, unknown> = {};
  cursor.expect(OBJECT_OPEN);
  if (cursor.take(OBJECT_CLOSE)) return object;
  do {
    const key = yield* cursor.key();
    const shape = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (shape === undefined) {
      unknown.add(at, key, properties);
      yield* cursor.skipValue();
    }
    // If two members have the same name, the last one counts.
    else object[key] = yield* readValue(reading, shape, { parent: at, name: key });
  } while (cursor.take(COMMA));
  cursor.expect(OBJECT_CLOSE);
  return object;
}

function* readArray(
  reading: Reading,
  items: Shape,
  maxItems = Number.POSITIVE_INFINITY,
  at: JsonPath,
): Generator<void, unknown[]> {
  const { cursor } = reading;
  const array: unknown[] = [];
  cursor.expect(ARRAY_OPEN);
  if (cursor.take(ARRAY_CLOSE)) return array;
  do {
    if (array.length > maxItems) yield* cursor.skipValue();
    else array.push(yield* readValue(reading, items, { parent: at, name: array.length }));
  } while (cursor.take(COMMA));
  cursor.expect(ARRAY_CLOSE);
  return array;
}
