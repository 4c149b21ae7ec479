import { BinaryArray } from './binary-array.ts';

/** A value as the parameter of a statement: text, bytes, or null. */
export type Parameter = string | Buffer | null;

export function parameterOf(value: unknown): Parameter {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return value;
  if (typeof value !== 'object') return String(value);
  if (value instanceof Date) return timestampOf(value);
  if (Array.isArray(value)) return arrayLiteral(value);
  if (value instanceof BinaryArray) return value.encode();
  if (ArrayBuffer.isView(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  return JSON.stringify(value);
}

/** The server writes years beyond four digits without a sign, and those before the first as "BC". */
function timestampOf(date: Date): string {
  const year = date.getUTCFullYear();
  const text = date.toISOString();
  if (year >= 1 && year <= 9_999) return text;
  const rest = text.slice(text.indexOf('-', 1));
  return year > 0 ? `${year}${rest}` : `${String(1 - year).padStart(4, '0')}${rest} BC`;
}

/** An array in the server's notation: `{"a",NULL,"b"}`. */
function arrayLiteral(values: readonly unknown[]): string {
  let literal = '{';
  for (const [index, value] of values.entries()) {
    if (index > 0) literal += ',';
    literal += elementOf(value);
  }
  return `${literal}}`;
}

function elementOf(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return arrayLiteral(value);
  const parameter = parameterOf(value);
  if (typeof parameter === 'string') return quoted(parameter);
  return parameter === null ? 'NULL' : `"\\\\x${parameter.toString('hex')}"`;
}

function quoted(text: string): string {
  const escaped = text.includes('\\') ? text.replaceAll('\\', '\\\\') : text;
  return escaped.includes('"') ? `"${escaped.replaceAll('"', '\\"')}"` : `"${escaped}"`;
}
