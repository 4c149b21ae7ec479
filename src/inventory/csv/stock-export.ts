import type { Queryable } from '../../db/database.ts';
import { inPages, PIECE_BYTES } from '../../db/large-pages.ts';
import { currencyOf } from '../../dealers/organization-settings.ts';
import { readStockValues, type StockValues, stockSizes } from '../items/stock-values.ts';
import { listStock, type StockFilter, type StockPosition } from '../lists/stock-list.ts';
import { listLocations } from '../locations.ts';
import { CSV_START, writeCsv } from './csv-file.ts';
import { type StockColumn, stockColumns } from './stock-columns.ts';

/** Few, so that the event loop never does nothing else for long. If their texts are long, a piece has fewer. */
const BATCH_ITEMS = 100;

export type ExportOptions = {
  /** Without it the file has no column of cost prices. */
  seesCost: boolean;
  /** The base URL of photos. */
  publicUrl: string;
  now: Date | null;
};

/**
 * The stock that a filter matches as a CSV file, by stock number, read in batches while it is sent. Importing the file as
 * it is changes nothing: columns have the names that an import knows, and an empty cell keeps what is there.
 */
export async function* exportStock(
  db: Queryable,
  filter: StockFilter,
  { seesCost, publicUrl, now }: ExportOptions,
): AsyncGenerator<string> {
  const { organizationId, kind } = filter;
  const currency = (await currencyOf(db, organizationId)) ?? 'USD';
  const columns = stockColumns(kind, currency).filter((column) => seesCost || !column.isCost);
  const locations = await listLocations(db, organizationId);
  const names = new Map(locations.map(({ id, name, businessUnit }) => [id, `${businessUnit} / ${name}`]));
  yield CSV_START + writeCsv([columns.map((column) => column.name)]);
  let position: StockPosition | null = null;
  for (;;) {
    const from: { position: StockPosition; isBackwards: boolean } | null =
      position === null ? null : { position, isBackwards: false };
    const rows = await listStock(db, { ...filter, sort: 'stock_number', from, limit: BATCH_ITEMS }, now);
    const last = rows.at(-1);
    if (last === undefined) return;
    const ids = rows.map((row) => row.id);
    const sizes = await stockSizes(db, organizationId, ids);
    const sized = ids.map((id) => ({ id, bytes: sizes.get(id) ?? 0 }));
    const context = { locationOf: (id: string) => names.get(id) ?? '', publicUrl };
    for (const page of inPages(sized, PIECE_BYTES)) {
      const items = await inOrder(db, organizationId, page);
      yield writeCsv(items.map((item) => columns.map((column) => cellOf(column, item, context))));
    }
    position = { value: last.sortValue, id: last.id };
  }
}

/** An item that was deleted meanwhile is left out. */
async function inOrder(db: Queryable, organizationId: string, page: { id: string }[]): Promise<StockValues[]> {
  const ids = page.map(({ id }) => id);
  const items = await readStockValues(db, organizationId, ids);
  const byId = new Map(items.map((item) => [item.id, item]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

type CellContext = { locationOf: (id: string) => string; publicUrl: string };

function cellOf(column: StockColumn, item: StockValues, { locationOf, publicUrl }: CellContext): string {
  const value = fieldOf(column, item);
  if (value === null || value === undefined) return '';
  if (column.name === 'location') return locationOf(String(value));
  if (column.name === 'photos') return (value as string[]).map((id) => `${publicUrl}/photos/${id}.webp`).join(' | ');
  return column.format.write(value);
}

function fieldOf({ name, target }: StockColumn, item: StockValues): unknown {
  if (target === 'attribute') return item.attributes[name];
  switch (name) {
    case 'stock_number':
      return item.stockNumber;
    case 'price':
      return item.priceAmount;
    case 'tax_treatment':
      return item.taxTreatment;
    case 'location':
      return item.locationId;
    case 'hidden':
      return item.isHidden;
    case 'channels':
      return Object.keys(item.channels).filter((id) => item.channels[id] === true);
    case 'photos':
      return item.photoIds;
    case 'serial_number':
      return item.serialNumber;
    case 'cost':
      return item.costAmount;
    case 'private_notes':
      return item.privateNotes;
    case 'restock':
      return null;
    default:
      return item[name as 'title' | 'description' | 'units'];
  }
}
