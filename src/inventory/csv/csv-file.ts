import { CsvError, parse } from 'csv-parse/sync';
import { IMPORT_FILE_LIMIT_MB, IMPORT_LINES_LIMIT } from '../../contract/dashboard/limits.ts';
import { DomainError } from '../../contract/domain-error.ts';
import { BYTES_PER_MB } from '../../contract/limits.ts';

export const CSV_BYTES_LIMIT = IMPORT_FILE_LIMIT_MB * BYTES_PER_MB;
const CSV_COLUMNS_LIMIT = 200;
/** Longer than the longest field that an item has. */
const CSV_LINE_CHARACTERS_LIMIT = 200_000;

const DELIMITERS = [',', ';', '\t'] as const;

/** A table as it was sent: texts that are not interpreted yet. */
export type CsvFile<Cells> = { header: string[]; rows: CsvRow<Cells>[]; delimiter: string };
/** `line` is where it begins in the file, from 1 on, so that a person finds it in any editor. */
export type CsvRow<Cells> = { line: number; cells: Cells };

/**
 * Reads UTF-8 or UTF-16 with commas, semicolons or tabs. Anything else is refused with what to do about it. `keep` puts the
 * cells of a line into the form that stays in memory: a file of 20 MB may have four million cells, each a text of its own,
 * and as one text for each line they take a tenth of the memory.
 */
export function readCsv<Cells>(bytes: Buffer, keep: (cells: string[]) => Cells): CsvFile<Cells> {
  if (bytes.length > CSV_BYTES_LIMIT) {
    throw invalid(`The file is larger than ${IMPORT_FILE_LIMIT_MB} MB. Split it into several.`);
  }
  // Files may mix line ends, and the parser counts those of two characters twice within quotes.
  const text = decode(bytes).replaceAll(/\r\n?/g, '\n');
  // Lines without values are no records, but each takes the parser time, so all are counted before it begins.
  if (countLines(text) > 2 * IMPORT_LINES_LIMIT) throw tooManyLines();
  const [, told] = TOLD_DELIMITER.exec(text) ?? [];
  const format = { delimiter: told ?? delimiterOf(text), fromLine: told === undefined ? 1 : 2 };
  let header: string[] | null = null;
  const rows = parseRecords(text, format, (record, line) => {
    if (header !== null) return { line, cells: keep(record) };
    header = record.map((name) => name.trim());
    if (header.length > CSV_COLUMNS_LIMIT) throw invalid(`The file has more than ${CSV_COLUMNS_LIMIT} columns.`);
    return null;
  });
  if (header === null) throw invalid('The file is empty.');
  if (rows.length > IMPORT_LINES_LIMIT) throw tooManyLines();
  return { header, delimiter: format.delimiter, rows };
}

function tooManyLines(): DomainError {
  return invalid(`The file has more than ${IMPORT_LINES_LIMIT} lines. Split it into several.`);
}

const QUOTE = 0x22;
const LINE_BREAK = 0x0a;

/** A line break within quotes is part of a cell. */
function countLines(text: string): number {
  let count = 1;
  let isQuoted = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) isQuoted = !isQuoted;
    else if (code === LINE_BREAK && !isQuoted) count += 1;
  }
  return count;
}

/** A record for which null is made is left out. */
function parseRecords<Row extends object>(
  text: string,
  { delimiter, fromLine }: { delimiter: string; fromLine: number },
  make: (record: string[], line: number) => Row | null,
): Row[] {
  try {
    return parse(text, {
      delimiter,
      from_line: fromLine,
      relax_column_count: true,
      skip_empty_lines: true,
      skip_records_with_empty_values: true,
      max_record_size: CSV_LINE_CHARACTERS_LIMIT,
      // One more than allowed and the header tell that there are too many.
      to: IMPORT_LINES_LIMIT + 2,
      // The parser tells where a record ends. What this makes of it takes its place; the types know only other records.
      on_record: (record: string[], { lines }: { lines: number }) =>
        make(record, lines - countBreaks(record)) as string[] | null,
    }) as unknown as Row[];
  } catch (error) {
    if (error instanceof CsvError) throw invalid(`The file is not a table: ${error.message}.`);
    throw error;
  }
}

function countBreaks(record: string[]): number {
  return record.reduce((sum, cell) => sum + (cell.includes('\n') ? cell.split('\n').length - 1 : 0), 0);
}

/** PostgreSQL stores neither NUL nor half of a surrogate pair. */
export function storableText(text: string): string {
  return text.replaceAll('\0', '').toWellFormed();
}

function decode(bytes: Buffer): string {
  const encoding = encodingOf(bytes);
  let text: string;
  try {
    text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw invalid('The file is neither UTF-8 nor UTF-16. Save it as "CSV UTF-8".');
  }
  if (text.includes('\0')) throw invalid('The file is not a table: it holds binary data.');
  return text;
}

/** Detected by its byte order mark, or by the zeros that Latin letters have in UTF-16. */
function encodingOf(bytes: Buffer): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  if (bytes.length >= 4 && bytes[1] === 0 && bytes[3] === 0) return 'utf-16le';
  if (bytes.length >= 4 && bytes[0] === 0 && bytes[2] === 0) return 'utf-16be';
  return 'utf-8';
}

/** The first line of a file for Excel may be sep=; */
const TOLD_DELIMITER = /^"?sep=([^"\n])"?\n/i;

/** The delimiter that is most frequent in the header, outside of quotes. */
function delimiterOf(text: string): string {
  const [header = ''] = /[^\n]+/.exec(text) ?? [];
  const plain = header.slice(0, CSV_LINE_CHARACTERS_LIMIT).replaceAll(/"[^"]*"/g, '');
  const counts = DELIMITERS.map((delimiter) => ({ delimiter, count: plain.split(delimiter).length }));
  return counts.reduce((best, one) => (one.count > best.count ? one : best)).delimiter;
}

function invalid(message: string): DomainError {
  return new DomainError('invalid_input', message, 'file');
}

/**
 * A cell that a spreadsheet would run as a formula gets an apostrophe in front, which makes it text and is not shown. So does
 * one that begins with such an apostrophe already, because an import takes one away. The wide forms are those of East Asian keyboards,
 * which some spreadsheets read as the narrow ones.
 */
const FORMULA = /^'*[=+\-@＝＋－＠\t\r\n]/;
const PLAIN_NUMBER = /^[+-]?\d+([.,]\d+)?$/;
const QUOTED = /[",;\r\n\t]/;

/** Lines of a table as spreadsheets read it, with the mark that makes them take it for UTF-8. */
export function writeCsv(rows: string[][]): string {
  return `${rows.map((cells) => cells.map(cellText).join(',')).join('\r\n')}\r\n`;
}

export const CSV_START = '\ufeff';

function cellText(value: string): string {
  const text = FORMULA.test(value) && !PLAIN_NUMBER.test(value) ? `'${value}` : value;
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** What stood in a cell before it was written. */
export function withoutApostrophe(cell: string): string {
  return cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell;
}
