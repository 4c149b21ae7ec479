import type { Steps } from '../../concurrency/time-slices.ts';
import { DomainError } from '../../contract/domain-error.ts';
import { STRING_LENGTH_LIMIT } from '../../contract/limits.ts';
import { WatchAttributes } from '../../contract/resources/listing.ts';
import { PartAttributes } from '../../contract/resources/part.ts';
import { CellError, CLEARED, folded } from '../csv/cells.ts';
import { withoutApostrophe } from '../csv/csv-file.ts';
import type { StockColumn, StockKind } from '../csv/stock-columns.ts';
import type { StockChanges } from '../items/edit-items.ts';
import { assertNewItem, type NewItem } from '../items/item-input.ts';
import type { StockValues } from '../items/stock-values.ts';
import type { LocationEntry } from '../locations.ts';
import { KEY_COLUMN } from './column-mapping.ts';
import type { ImportLine } from './import-files.ts';
import { stockNumberOf } from './stock-number.ts';

/** What is needed to read the lines of one file. */
export type LineReading = {
  kind: StockKind;
  /** The column of stock that each column of the file means; null for none. */
  columns: (StockColumn | null)[];
  locations: LocationIndex;
  /** The dealer's integrations. */
  channelIds: string[];
};

/** The ids of locations by what a cell may call them. */
export type LocationIndex = ReadonlyMap<string, readonly string[]>;

/** The content of a line, parsed as far as that is possible without its item. */
export type PlannedLine = {
  line: number;
  stockNumber: string;
  values: StockChanges;
  mayRestock: boolean;
  /** Addresses or names of files; null if the line says nothing of photos. */
  photos: string[] | null;
  errors: LineError[];
};

export type LineError = { field: string | null; message: string };

/** Where each column's value goes; attributes keep their name. */
const FIELDS: Readonly<Record<string, keyof StockChanges>> = {
  title: 'title',
  description: 'description',
  price: 'priceAmount',
  units: 'units',
  tax_treatment: 'taxTreatment',
  location: 'locationId',
  hidden: 'isHidden',
  channels: 'channels',
  serial_number: 'serialNumber',
  cost: 'costAmount',
  private_notes: 'privateNotes',
};
/** Texts that are empty, not absent, when they are cleared. */
const CLEARED_TO_EMPTY = new Set(['description', 'private_notes']);
const MESSAGE_LENGTH_LIMIT = 500;

/** Reads a line. An empty cell says nothing; the word "none" clears a field, unless an apostrophe in front makes it a text. */
export function planLine(reading: LineReading, { line, cells, repeats }: ImportLine): PlannedLine {
  const planned: PlannedLine = { line, stockNumber: '', values: {}, mayRestock: false, photos: null, errors: [] };
  const attributes: Record<string, unknown> = {};
  for (const [index, column] of reading.columns.entries()) {
    const raw = withoutApostrophe(cells[index] ?? '');
    // Long texts keep their line breaks at the end, so that an export reads back as it was.
    const cell = column !== null && CLEARED_TO_EMPTY.has(column.name) ? raw : raw.trim();
    if (column === null || raw.trim() === '') continue;
    if (column.name === KEY_COLUMN) {
      planned.stockNumber = stockNumberOf(cells[index] ?? '');
      continue;
    }
    try {
      const value = readCell(column, cell);
      if (column.target === 'attribute') attributes[column.name] = value;
      else setField(planned, reading, column.name, value);
    } catch (error) {
      if (!(error instanceof CellError)) throw error;
      planned.errors.push({
        field: column.name,
        message: `${column.label} ${error.message}.`.slice(0, MESSAGE_LENGTH_LIMIT),
      });
    }
  }
  if (Object.keys(attributes).length > 0) Object.assign(planned.values, { attributes });
  if (planned.stockNumber === '') {
    planned.errors.push({ field: 'stock_number', message: 'The line has no stock number.' });
  }
  if (repeats !== null) planned.errors.push(repeatError(repeats));
  return planned;
}

/** Of a line that means the same item as an earlier one. */
export function repeatError(line: number): LineError {
  return { field: 'stock_number', message: `The stock number stands in line ${line} already.` };
}

function readCell(column: StockColumn, cell: string): unknown {
  const isCleared = cell.toLowerCase() === CLEARED;
  if (isCleared && CLEARED_TO_EMPTY.has(column.name)) return '';
  if (isCleared && column.isList) return [];
  if (!isCleared || !column.isNullable) return column.format.read(cell);
  // A choice may have a "none" of its own, as the numerals of a dial do.
  try {
    const value = column.format.read(cell);
    return value === cell ? null : value;
  } catch (error) {
    if (error instanceof CellError) return null;
    throw error;
  }
}

function setField(planned: PlannedLine, reading: LineReading, name: string, value: unknown): void {
  switch (name) {
    case 'restock':
      planned.mayRestock = value === true;
      return;
    case 'photos':
      planned.photos = value as string[];
      return;
    case 'location':
      planned.values.locationId = value === null ? null : locationOf(reading.locations, String(value));
      return;
    case 'channels':
      planned.values.channels = channelsOf(reading.channelIds, value as string[]);
      return;
    default: {
      const field = FIELDS[name];
      if (field === undefined) throw new Error(`no field for the column ${name}`);
      Object.assign(planned.values, { [field]: value });
    }
  }
}

/**
 * Made once for many lines, and in steps: to fold a thousand names of 500 characters takes 0.2 s, which each line of a file
 * would cost.
 */
export function* locationIndexSteps(locations: LocationEntry[]): Steps<LocationIndex> {
  const idsByWord = new Map<string, string[]>();
  for (const { id, name, businessUnit } of locations) {
    for (const word of new Set([id, folded(name), folded(businessUnit + name)])) {
      const ids = idsByWord.get(word);
      if (ids === undefined) idsByWord.set(word, [id]);
      else ids.push(id);
    }
    yield;
  }
  return idsByWord;
}

/** No unit and name together are longer. */
const LOCATION_LENGTH_LIMIT = 2 * STRING_LENGTH_LIMIT;

/** Finds a location by its name, by its unit and name, or by its id. */
function locationOf(locations: LocationIndex, text: string): string {
  const words = text.length > LOCATION_LENGTH_LIMIT ? [] : [text, folded(text)];
  const [first, second] = new Set(words.flatMap((word) => locations.get(word) ?? []));
  if (first === undefined) throw new CellError(`"${text}" is none of your locations`);
  if (second !== undefined) throw new CellError(`"${text}" is the name of several locations: put the unit before it`);
  return first;
}

/** The channels that the cell names are on, all others are off. */
function channelsOf(channelIds: string[], wanted: string[]): Record<string, boolean> {
  const unknown = wanted.find((id) => !channelIds.includes(id));
  if (unknown !== undefined) throw new CellError(`names ${unknown}, which is none of your integrations`);
  return Object.fromEntries(channelIds.map((id) => [id, wanted.includes(id)]));
}

/** What a line changes of an item that is there; an error if it is of the other kind. */
export function changesFor(planned: PlannedLine, kind: StockKind, item: StockValues): StockChanges | DomainError {
  if (item.kind !== kind) {
    const names = { listing: 'a watch', part: 'a part' };
    return new DomainError('wrong_kind', `The stock number belongs to ${names[item.kind]}.`, 'stock_number');
  }
  if (!keepsUnits(planned, item)) return planned.values;
  const { units: _, ...others } = planned.values;
  return others;
}

/** A file that is older than the last sale must not bring a sold watch back: its units are raised only if it says so. */
export function keepsUnits({ values, mayRestock }: PlannedLine, item: StockValues): boolean {
  return values.units !== undefined && item.status !== 'in_stock' && values.units > item.units && !mayRestock;
}

/** The new item that a line means; what is missing or wrong is added to its errors. */
export function newItemOf(planned: PlannedLine, kind: StockKind): NewItem {
  const { isHidden: _, channels: __, attributes = {}, ...fields } = planned.values;
  const item = {
    kind,
    stockNumber: planned.stockNumber,
    title: '',
    description: '',
    priceAmount: null,
    units: 1,
    taxTreatment: null,
    locationId: null,
    ...fields,
    attributes: { ...emptyAttributes(kind), ...attributes },
  } as NewItem;
  // What can't be read is not missing: the line names each fault once.
  const unread = new Set(planned.errors.map(({ field }) => field));
  const need = (field: string) => {
    if (unread.has(field)) return;
    planned.errors.push({ field, message: `A new item needs a ${field.replaceAll('_', ' ')}.` });
  };
  if (item.title === '') need('title');
  for (const name of REQUIRED[kind]) {
    if ((item.attributes as Record<string, unknown>)[name] === undefined) need(name);
  }
  if (planned.errors.length === 0) checkNewItem(planned, item);
  return item;
}

function checkNewItem(planned: PlannedLine, item: NewItem): void {
  try {
    assertNewItem(item);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    planned.errors.push({ field: error.field ?? null, message: error.message });
  }
}

const SCHEMAS = { listing: WatchAttributes, part: PartAttributes } as const;
type Property = { type?: string; anyOf?: { type?: string }[] };

/** The default of an attribute that is not filled in; undefined if it is required. */
function emptyValueOf({ type, anyOf }: Property): unknown {
  if (anyOf?.some((one) => one.type === 'null')) return null;
  if (type === 'array') return [];
  return type === 'boolean' ? false : undefined;
}

const EMPTY = { listing: emptyOf('listing'), part: emptyOf('part') };
const REQUIRED = { listing: requiredOf('listing'), part: requiredOf('part') };

function emptyOf(kind: StockKind): Record<string, unknown> {
  const entries = Object.entries(SCHEMAS[kind].properties).map(([name, property]) => [
    name,
    emptyValueOf(property as Property),
  ]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function requiredOf(kind: StockKind): string[] {
  return Object.keys(SCHEMAS[kind].properties).filter((name) => !(name in EMPTY[kind]));
}

function emptyAttributes(kind: StockKind): Record<string, unknown> {
  return structuredClone(EMPTY[kind]);
}
