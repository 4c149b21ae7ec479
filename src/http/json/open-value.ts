import { CompactJson, type Unstorable } from '../../contract/compact-json.ts';
import { METADATA_LIMIT_BYTES } from '../../contract/limits.ts';
import { ARRAY_CLOSE, ARRAY_OPEN, COMMA, type JsonCursor, OBJECT_CLOSE, OBJECT_OPEN, QUOTE } from './json-tokens.ts';
import { BAD_NUMBER, BAD_TEXT, isStorable, within } from './unstorable.ts';

/** A longer text has more bytes than any value of any shape may have. */
const TEXT_LIMIT = METADATA_LIMIT_BYTES;

/** A part of the value as compact JSON; null is too long to be of use. */
type Part = { text: string | null; fault: Unstorable | null };

/** A container that is being read. */
type Frame = ArrayFrame | ObjectFrame;

/**
 * Reads an object or a list of any shape. The parts are kept as text: a tree of them could take fifty times the memory
 * of the body. A part that is too long is forgotten, but not yet refused: a later member of the same name may replace it.
 */
export function* readOpenValue(cursor: JsonCursor): Generator<void, CompactJson> {
  const frames: Frame[] = [];
  for (;;) {
    if (cursor.isPauseDue()) yield;
    const opened = openFrame(cursor);
    if (opened !== null && !cursor.take(opened.closing)) {
      frames.push(opened);
      if (opened instanceof ObjectFrame) opened.key = yield* cursor.key();
      continue;
    }
    let part = opened?.part() ?? (yield* readScalar(cursor));
    for (;;) {
      const frame = frames.at(-1);
      if (frame === undefined) return new CompactJson(part.text, part.fault);
      frame.add(part);
      if (!cursor.take(frame.closing)) {
        cursor.expect(COMMA);
        if (frame instanceof ObjectFrame) frame.key = yield* cursor.key();
        break;
      }
      frames.pop();
      part = frame.part();
    }
  }
}

function openFrame(cursor: JsonCursor): Frame | null {
  if (cursor.take(OBJECT_OPEN)) return new ObjectFrame();
  return cursor.take(ARRAY_OPEN) ? new ArrayFrame() : null;
}

function* readScalar(cursor: JsonCursor): Generator<void, Part> {
  if (cursor.peek() === QUOTE) {
    const value = yield* cursor.string();
    const isLong = value.length > TEXT_LIMIT;
    return { text: isLong ? null : JSON.stringify(value), fault: isStorable(value) ? null : BAD_TEXT };
  }
  const value = cursor.scalar();
  const isInfinite = typeof value === 'number' && !Number.isFinite(value);
  return { text: JSON.stringify(value), fault: isInfinite ? BAD_NUMBER : null };
}

class ArrayFrame {
  readonly closing = ARRAY_CLOSE;
  /** Null once they are too long. Joined at the end: a string that grew piece by piece would keep all its pieces. */
  private parts: string[] | null = [];
  private textLength = 0;
  private length = 0;
  private fault: Unstorable | null = null;

  add({ text, fault }: Part): void {
    if (fault !== null) this.fault ??= within(`[${this.length}]`, fault);
    this.textLength += (text?.length ?? TEXT_LIMIT) + 1;
    if (this.textLength > TEXT_LIMIT) this.parts = null;
    else if (text !== null) this.parts?.push(text);
    this.length += 1;
  }

  part(): Part {
    return { text: this.parts === null ? null : `[${this.parts.join(',')}]`, fault: this.fault };
  }
}

class ObjectFrame {
  readonly closing = OBJECT_CLOSE;
  key = '';
  /** Null once the names alone are too long; unlike values, they can't be replaced. */
  private members: Map<string, string | null> | null = new Map();
  private readonly faults = new Map<string, Unstorable>();
  private namesLength = 0;

  add({ text, fault }: Part): void {
    const ownFault = isStorable(this.key) ? fault && within(this.key, fault) : BAD_TEXT;
    if (ownFault === null) this.faults.delete(this.key);
    else if (this.members !== null || this.faults.size === 0) this.faults.set(this.key, ownFault);
    if (this.members === null) return;
    if (!this.members.has(this.key)) this.namesLength += this.key.length + '"":0,'.length;
    if (this.namesLength > TEXT_LIMIT + 1) this.members = null;
    else this.members.set(this.key, text);
  }

  part(): Part {
    // An object lists its names in the order in which a parsed one would.
    const [fault = null] = this.faults.size === 0 ? [] : Object.values(Object.fromEntries(this.faults));
    return { text: this.text(), fault };
  }

  private text(): string | null {
    if (this.members === null) return null;
    const parts: string[] = [];
    let length = 0;
    for (const [key, value] of this.members) {
      length += value?.length ?? TEXT_LIMIT;
      if (value === null || length > TEXT_LIMIT) return null;
      parts.push(`${JSON.stringify(key)}:${value}`);
    }
    return `{${parts.join(',')}}`;
  }
}
