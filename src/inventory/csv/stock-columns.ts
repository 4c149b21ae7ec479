import type { TSchema } from 'typebox';
import type { Enumeration } from '../../contract/enumerations.ts';
import { WatchAttributes } from '../../contract/resources/listing.ts';
import { PartAttributes } from '../../contract/resources/part.ts';
import {
  bool,
  type CellFormat,
  choice,
  choices,
  compatibility,
  folded,
  integer,
  list,
  money,
  number,
  photos,
  plainText,
  text,
} from './cells.ts';

export type StockKind = 'listing' | 'part';

/** A column of a file of stock. `name` heads it in an export; an import also knows it by its label and other words. */
export type StockColumn = {
  name: string;
  label: string;
  /** Where its value goes: a field of the item, one of its attributes, or an instruction to the import. */
  target: 'field' | 'attribute' | 'instruction';
  format: CellFormat;
  isNullable: boolean;
  isList: boolean;
  /** Only owners see it, unless they have opened it to staff. */
  isCost: boolean;
  otherNames: readonly string[];
};

type Options = Partial<Pick<StockColumn, 'isNullable' | 'isList' | 'isCost' | 'otherNames' | 'label'>>;

/** All columns of a kind, in the order of an export. */
export function stockColumns(kind: StockKind, currency: string): StockColumn[] {
  const schema = kind === 'listing' ? WatchAttributes : PartAttributes;
  return [
    field('stock_number', plainText, {
      otherNames: [
        'sku',
        'number',
        'stock',
        'item number',
        'inventory number',
        'artikelnummer',
        'artikel nr',
        'art nr',
      ],
    }),
    field('title', text, { otherNames: ['name', 'headline', 'titel', 'bezeichnung', 'titre'] }),
    field('description', text, { otherNames: ['text', 'beschreibung', 'details'] }),
    field('price', money(currency), {
      isNullable: true,
      otherNames: ['amount', 'preis', 'prix', 'sales price', 'asking price'],
    }),
    field('units', integer, { otherNames: ['quantity', 'qty', 'pieces', 'menge'] }),
    // Raises units also if the item was sold or is reserved.
    instruction('restock', bool),
    field('tax_treatment', choice('tax_treatment'), { isNullable: true, otherNames: ['tax', 'vat'] }),
    field('location', text, { isNullable: true, otherNames: ['place', 'standort', 'shop'] }),
    field('hidden', bool, {}),
    // Ids of the integrations that it is published on.
    instruction('channels', list, { isList: true }),
    instruction('photos', photos, { isList: true }),
    field('serial_number', text, { isNullable: true, otherNames: ['serial', 'seriennummer'] }),
    field('cost', money(currency), {
      isNullable: true,
      isCost: true,
      otherNames: ['purchase price', 'einkaufspreis', 'ek'],
    }),
    field('private_notes', text, { otherNames: ['notes', 'internal notes', 'notizen'] }),
    ...Object.entries(schema.properties).map(([name, property]) => attribute(name, property)),
  ];
}

/** Finds the column that a heading means, or null: by name, by label, by the other words that dealers use. */
export function columnFinder(columns: StockColumn[]): (heading: string) => StockColumn | null {
  const byName = new Map<string, StockColumn>();
  for (const column of columns) {
    for (const name of [column.name, column.label, ...column.otherNames].map(folded)) {
      if (name !== '' && !byName.has(name)) byName.set(name, column);
    }
  }
  return (heading) => byName.get(folded(heading)) ?? null;
}

const ATTRIBUTE_NAMES: Readonly<Record<string, readonly string[]>> = {
  brand: ['maker', 'manufacturer', 'marke', 'marque'],
  model: ['modell', 'modele'],
  reference_number: ['reference', 'ref', 'referenz', 'ref no'],
  year: ['year of production', 'jahr', 'baujahr', 'annee'],
  condition: ['zustand', 'etat'],
  has_box: ['box', 'original box'],
  has_papers: ['papers', 'papiere', 'original papers'],
  case_diameter_mm: ['diameter', 'case diameter', 'size'],
  part_number: ['part', 'part no'],
};

/** Enumerations whose name is not that of the attribute. */
const ENUMERATION_OF: Readonly<Record<string, Enumeration>> = { category: 'part_category' };

function field(name: string, format: CellFormat, options: Options): StockColumn {
  return column('field', name, format, options);
}

function instruction(name: string, format: CellFormat, options: Options = {}): StockColumn {
  return column('instruction', name, format, options);
}

function attribute(name: string, schema: TSchema): StockColumn {
  const { isNullable, inner } = withoutNull(schema);
  const options = { isNullable, isList: inner.type === 'array', otherNames: ATTRIBUTE_NAMES[name] ?? [] };
  return column('attribute', name, formatOf(name, inner), options);
}

function column(target: StockColumn['target'], name: string, format: CellFormat, options: Options): StockColumn {
  return {
    name,
    label: options.label ?? labelFrom(name),
    target,
    format,
    isNullable: options.isNullable ?? false,
    isList: options.isList ?? false,
    isCost: options.isCost ?? false,
    otherNames: options.otherNames ?? [],
  };
}

type JsonSchema = { type?: string; enum?: unknown; items?: { enum?: unknown }; anyOf?: JsonSchema[] };

function withoutNull(schema: TSchema): { isNullable: boolean; inner: JsonSchema } {
  const { anyOf } = schema as JsonSchema;
  const inner = anyOf?.find((one) => one.type !== 'null');
  return inner === undefined ? { isNullable: false, inner: schema as JsonSchema } : { isNullable: true, inner };
}

function formatOf(name: string, schema: JsonSchema): CellFormat {
  const enumeration = ENUMERATION_OF[name] ?? (name as Enumeration);
  if (name === 'compatibility') return compatibility;
  if (schema.enum !== undefined) return choice(enumeration);
  if (schema.items?.enum !== undefined) return choices(enumeration);
  switch (schema.type) {
    case 'boolean':
      return bool;
    case 'integer':
      return integer;
    case 'number':
      return number;
    default:
      return text;
  }
}

function labelFrom(name: string): string {
  const words = name.replace(/_(mm|m)$/, ' ($1)').replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
