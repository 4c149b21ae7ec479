import { ARRAY_CLOSE, ARRAY_OPEN, COMMA, JsonCursor, OBJECT_CLOSE, OBJECT_OPEN, QUOTE } from './json-cursor.ts';
import { readOpenValue } from './open-value.ts';
import { isOpen, partOf, type Shape } from './shape.ts';

/**
 * Parses a text as JSON.parse does, but builds only what the shape knows: members of other names are passed over, of a
 * list only one item more than it may have, and where a field has a container that it may not have, an empty one of its
 * kind. The validation says the same about it.
 */
export function* readKnownFields(text: string, shape: Shape): Generator<void, unknown> {
  const cursor = new JsonCursor(text);
  const value = yield* readValue(cursor, shape);
  cursor.expectEnd();
  return value;
}

/** Goes only as deep as the shape. */
function* readValue(cursor: JsonCursor, shape: Shape): Generator<void, unknown> {
  if (cursor.isPauseDue()) yield;
  switch (cursor.peek()) {
    case QUOTE:
      return yield* cursor.string();
    case OBJECT_OPEN: {
      const properties = partOf(shape, 'properties');
      if (properties !== undefined) return yield* readObject(cursor, properties);
      if (isOpen(shape, 'object')) return yield* readOpenValue(cursor);
      yield* cursor.skipValue();
      return {};
    }
    case ARRAY_OPEN: {
      const items = partOf(shape, 'items');
      if (items !== undefined) return yield* readArray(cursor, items, partOf(shape, 'maxItems'));
      if (isOpen(shape, 'array')) return yield* readOpenValue(cursor);
      yield* cursor.skipValue();
      return [];
    }
    default:
      return cursor.scalar();
  }
}

function* readObject(cursor: JsonCursor, properties: Record<string, Shape>): Generator<void, unknown> {
  const object: Record<string, unknown> = {};
  cursor.expect(OBJECT_OPEN);
  if (cursor.take(OBJECT_CLOSE)) return object;
  do {
    const key = yield* cursor.key();
    const shape = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (shape === undefined) yield* cursor.skipValue();
    // Of two members of one name the last counts.
    else object[key] = yield* readValue(cursor, shape);
  } while (cursor.take(COMMA));
  cursor.expect(OBJECT_CLOSE);
  return object;
}

function* readArray(cursor: JsonCursor, items: Shape, maxItems = Number.POSITIVE_INFINITY): Generator<void, unknown> {
  const array: unknown[] = [];
  cursor.expect(ARRAY_OPEN);
  if (cursor.take(ARRAY_CLOSE)) return array;
  do {
    if (array.length > maxItems) yield* cursor.skipValue();
    else array.push(yield* readValue(cursor, items));
  } while (cursor.take(COMMA));
  cursor.expect(ARRAY_CLOSE);
  return array;
}
