/** How many characters are read between two points where others may run: at most about 0.6 ms. */
const STEP_CHARACTERS = 8_192;

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const ARRAY_OPEN = 0x5b;
export const ARRAY_CLOSE = 0x5d;
export const OBJECT_OPEN = 0x7b;
export const OBJECT_CLOSE = 0x7d;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const LOWER_U = 0x75;
const SPACE = 0x20;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const TAB = 0x09;

const SIMPLE_ESCAPES = new Set([...'"\\/bfnrt'].map((character) => character.charCodeAt(0)));
/** Everything but control characters, the quote and the backslash. */
const PLAIN = /[ !#-[\]-\uffff]*/y;
/** In a longer string, its end is looked for by the pattern, which takes a fraction of the time. */
const PLAIN_CHARACTERS = 512;
const HEX4 = /[0-9a-fA-F]{4}/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const LITERALS = new Map([
  [0x74, 'true'],
  [0x66, 'false'],
  [0x6e, 'null'],
]);

/**
 * Reads the tokens of a JSON text one after the other, by the same grammar as JSON.parse. What is not JSON is a
 * SyntaxError. Its generators yield about every STEP_CHARACTERS.
 */
export class JsonCursor {
  readonly text: string;
  private index = 0;
  private nextPause = STEP_CHARACTERS;
  /** Whether the characters that were just passed have an escape among them. */
  private hasEscape = false;

  constructor(text: string) {
    this.text = text;
  }

  /** The character at which the next token begins; NaN at the end. */
  peek(): number {
    let { index } = this;
    let code = this.text.charCodeAt(index);
    while (code === SPACE || code === LINE_FEED || code === CARRIAGE_RETURN || code === TAB) {
      index += 1;
      code = this.text.charCodeAt(index);
    }
    this.index = index;
    return code;
  }

  /** Takes the character if it is the next token. */
  take(code: number): boolean {
    if (this.peek() !== code) return false;
    this.index += 1;
    return true;
  }

  expect(code: number): void {
    if (!this.take(code)) throw this.unexpected();
  }

  expectEnd(): void {
    if (!Number.isNaN(this.peek())) throw this.unexpected();
  }

  /** Whether enough was read since the last pause. */
  isPauseDue(): boolean {
    if (this.index < this.nextPause) return false;
    this.nextPause = this.index + STEP_CHARACTERS;
    return true;
  }

  /** The name of a member, and the colon after it. */
  *key(): Generator<void, string> {
    const key = this.shortString() ?? (yield* this.longString());
    this.expect(COLON);
    return key;
  }

  *string(): Generator<void, string> {
    return this.shortString() ?? (yield* this.longString());
  }

  /** The next string, unless it is longer than a step; then nothing is read. */
  shortString(): string | null {
    this.expect(QUOTE);
    const start = this.index;
    if (this.passCharacters()) {
      this.index += 1;
      return this.valueOf(start, this.index - 1);
    }
    this.index = start - 1;
    return null;
  }

  private *longString(): Generator<void, string> {
    this.expect(QUOTE);
    let value = '';
    for (let isClosed = false; !isClosed; ) {
      const start = this.index;
      isClosed = this.passCharacters();
      // A part ends between two characters, so it is a string of its own.
      value += this.valueOf(start, this.index);
      yield;
    }
    this.index += 1;
    return value;
  }

  private valueOf(start: number, end: number): string {
    const raw = this.text.slice(start, end);
    return this.hasEscape ? JSON.parse(`"${raw}"`) : raw;
  }

  private *skipString(): Generator<void, void> {
    while (!this.passCharacters()) yield;
    this.index += 1;
  }

  /** A number, true, false or null: its value. */
  scalar(): number | boolean | null {
    const raw = this.rawScalar();
    if (raw === 'null') return null;
    return raw === 'true' || (raw === 'false' ? false : Number(raw));
  }

  rawScalar(): string {
    const literal = LITERALS.get(this.peek());
    if (literal !== undefined) {
      if (!this.text.startsWith(literal, this.index)) throw this.unexpected();
      this.index += literal.length;
      return literal;
    }
    NUMBER.lastIndex = this.index;
    if (!NUMBER.test(this.text)) throw this.unexpected();
    const raw = this.text.slice(this.index, NUMBER.lastIndex);
    this.index = NUMBER.lastIndex;
    return raw;
  }

  /** Passes one value of any kind without building it. */
  *skipValue(): Generator<void, void> {
    /** The closing bracket of each container that is open. */
    const closings: number[] = [];
    for (;;) {
      if (this.isPauseDue()) yield;
      const code = this.peek();
      if (code === OBJECT_OPEN || code === ARRAY_OPEN) {
        const closing = code === OBJECT_OPEN ? OBJECT_CLOSE : ARRAY_CLOSE;
        this.index += 1;
        if (!this.take(closing)) {
          closings.push(closing);
          if (closing === OBJECT_CLOSE && !this.skipShortKey()) yield* this.skipLongKey();
          continue;
        }
      } else if (code !== QUOTE) this.rawScalar();
      else if (!this.skipShortString()) yield* this.skipString();

      for (;;) {
        const closing = closings.at(-1);
        if (closing === undefined) return;
        if (this.take(closing)) closings.pop();
        else {
          this.expect(COMMA);
          if (closing === OBJECT_CLOSE && !this.skipShortKey()) yield* this.skipLongKey();
          break;
        }
      }
    }
  }

  /** Whether the string ended within a step; if not, `skipString` goes on. */
  private skipShortString(): boolean {
    this.expect(QUOTE);
    if (!this.passCharacters()) return false;
    this.index += 1;
    return true;
  }

  private skipShortKey(): boolean {
    if (!this.skipShortString()) return false;
    this.expect(COLON);
    return true;
  }

  private *skipLongKey(): Generator<void, void> {
    yield* this.skipString();
    this.expect(COLON);
  }

  unexpected(): SyntaxError {
    return new SyntaxError(`unexpected text at character ${this.index}`);
  }

  /** Goes to the closing quote, or as far as one step goes; returns which. */
  private passCharacters(): boolean {
    const { text } = this;
    let { index } = this;
    const until = index + STEP_CHARACTERS;
    this.hasEscape = false;
    let plain = 0;
    while (index < until) {
      const code = text.charCodeAt(index);
      if (code === QUOTE) break;
      if (code === BACKSLASH) {
        this.hasEscape = true;
        index = this.pastEscape(index);
        plain = 0;
      } else if (code >= SPACE) {
        index += 1;
        plain += 1;
        if (plain > PLAIN_CHARACTERS) {
          index += pastPlain(text.slice(index, until));
          plain = 0;
        }
      }
      // A control character, or the end of the text.
      else throw this.unexpected();
    }
    this.index = index;
    return index < until;
  }

  private pastEscape(index: number): number {
    const code = this.text.charCodeAt(index + 1);
    if (SIMPLE_ESCAPES.has(code)) return index + 2;
    HEX4.lastIndex = index + 2;
    if (code !== LOWER_U || !HEX4.test(this.text)) throw this.unexpected();
    return index + 6;
  }
}

/** How many characters from the beginning mean themselves. */
function pastPlain(text: string): number {
  PLAIN.lastIndex = 0;
  PLAIN.test(text);
  return PLAIN.lastIndex;
}
