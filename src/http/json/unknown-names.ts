import { IGNORED_BYTES_LIMIT, IGNORED_NAMES_LIMIT } from '../../contract/limits.ts';
import { partOf, type Shape } from './shape.ts';

/** An unknown name in a request, and the names that are known there. */
export type UnknownName = {
  /** As in the header: `lines[0].listingId`. */
  path: string;
  /** The path without the name: `lines[0].`. */
  parent: string;
  name: string;
  known: Readonly<Record<string, unknown>>;
};

/** Where a container stands in the body; null is the body itself. Paths are put together only for names that are kept. */
export type JsonPath = { parent: JsonPath; name: string | number } | null;

/**
 * The unknown names of one request, of its body and its query, in the order in which they were met, each once. Those of a
 * query are added in `ignored-names/ignored-fields.ts`, which writes the header. Their number and their bytes are
 * bounded: a body has room for a million of them, and the answer has one header for them.
 */
export class UnknownNames {
  readonly names: UnknownName[] = [];
  /** True once there was one more than fits. */
  isCut = false;
  private bytes = 0;

  add(at: JsonPath, name: string, known: Readonly<Record<string, unknown>>): void {
    if (this.isCut) return;
    // Escaped, a name is never shorter; a name of megabytes need not be escaped to be too long.
    if (name.length > IGNORED_BYTES_LIMIT) {
      this.isCut = true;
      return;
    }
    const parent = escaped(parentPath(at));
    const path = parent + escaped(name);
    if (this.names.some((one) => one.path === path)) return;
    const bytes = path.length + (this.names.length === 0 ? 0 : SEPARATOR.length);
    if (this.names.length === IGNORED_NAMES_LIMIT || this.bytes + bytes > IGNORED_BYTES_LIMIT) {
      this.isCut = true;
      return;
    }
    this.bytes += bytes;
    this.names.push({ path, parent, name, known });
  }

  /** The names as one header; null if there are none. */
  header(): string | null {
    const paths = this.names.map(({ path }) => path);
    if (this.isCut) paths.push(ELLIPSIS);
    return paths.length === 0 ? null : paths.join(SEPARATOR);
  }
}

const SEPARATOR = ', ';
/** The character "…", which a header can't have as it is. */
const ELLIPSIS = '%E2%80%A6';

/** Finds the names in a parsed value that its shape does not know. What may have any shape has none of them. */
export function findUnknownNames(value: unknown, shape: Shape, into: UnknownNames, at: JsonPath = null): void {
  if (value === null || typeof value !== 'object' || into.isCut) return;
  if (Array.isArray(value)) {
    const items = partOf(shape, 'items');
    if (items === undefined || !mayHaveNames(items)) return;
    for (let index = 0; index < value.length && !into.isCut; index++) {
      findUnknownNames(value[index], items, into, { parent: at, name: index });
    }
    return;
  }
  const properties = partOf(shape, 'properties');
  if (properties === undefined) return;
  for (const name of Object.keys(value)) {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const inner = (value as Record<string, unknown>)[name];
    if (known === undefined) into.add(at, name, properties);
    else if (inner !== null && typeof inner === 'object') {
      findUnknownNames(inner, known, into, { parent: at, name });
    }
    if (into.isCut) return;
  }
}

function mayHaveNames(shape: Shape): boolean {
  return partOf(shape, 'properties') !== undefined || partOf(shape, 'items') !== undefined;
}

function parentPath(at: JsonPath): string {
  return at === null ? '' : `${pathOf(at)}.`;
}

function pathOf({ parent, name }: NonNullable<JsonPath>): string {
  if (typeof name === 'number') return `${parent === null ? '' : pathOf(parent)}[${name}]`;
  return parentPath(parent) + name;
}

/** What is not printable ASCII, and what would make the header ambiguous: its separator and the sign of an escape. */
const NEEDS_ESCAPE = /[^\x20-\x7e]|[%,]/u;

/** Percent-encoded as UTF-8, character by character; half a surrogate pair is the replacement character. */
function escaped(path: string): string {
  if (!NEEDS_ESCAPE.test(path)) return path;
  return Array.from(path.toWellFormed(), (character) =>
    NEEDS_ESCAPE.test(character) ? encodeURIComponent(character) : character,
  ).join('');
}
