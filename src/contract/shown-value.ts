const SHOWN_CHARACTERS_LIMIT = 40;
/** API keys and signing secrets, wherever somebody pasted one. */
const SECRET = /(?:svc|whsec)_[a-z0-9]{8,}|bearer /i;

/** Quotes a text from outside for an error message: shortened, and with secrets hidden. */
export function shownText(text: string): string {
  if (SECRET.test(text)) return 'a secret';
  const characters = Array.from(text.slice(0, 2 * SHOWN_CHARACTERS_LIMIT).toWellFormed());
  const isCut = characters.length > SHOWN_CHARACTERS_LIMIT || text.length > 2 * SHOWN_CHARACTERS_LIMIT;
  return JSON.stringify(characters.slice(0, SHOWN_CHARACTERS_LIMIT).join('') + (isCut ? '…' : ''));
}

/** The kind of a value without the value itself, for fields whose values may be personal or secret. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (value === '') return 'an empty string';
  if (Array.isArray(value)) return 'an array';
  return KINDS[typeof value] ?? 'nothing';
}

const KINDS: Partial<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  boolean: 'a boolean',
  object: 'an object',
};
