import type { ChannelContext } from '../../channel/context.ts';
import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { transactionTime } from '../../db/sql-time.ts';
import { unnestRows } from '../../db/values/unnest-rows.ts';
import { newId } from '../../ids/new-id.ts';
import type { NewItem } from './item-input.ts';

const COLUMNS = {
  id: 'text',
  kind: 'text',
  stockNumber: 'text',
  title: 'text',
  description: 'text',
  priceAmount: 'bigint',
  units: 'integer',
  taxTreatment: 'text',
  locationId: 'text',
  serialNumber: 'text',
  costAmount: 'bigint',
  privateNotes: 'text',
  attributes: 'text',
  isHidden: 'boolean',
} as const;

/**
 * Takes many items into stock, in the caller's transaction. `assertNewItem` has checked them. An item whose stock
 * number is taken is skipped. Returns the ids by stock number. Nobody can read the items until they are published.
 */
export async function createItems(
  tx: Transaction,
  context: ChannelContext,
  organizationId: string,
  inputs: (NewItem & { isHidden: boolean })[],
): Promise<Map<string, string>> {
  if (inputs.length === 0) return new Map();
  const rows = inputs.map((input) => ({
    ...input,
    id: newId(input.kind),
    serialNumber: input.serialNumber ?? null,
    costAmount: input.costAmount ?? null,
    privateNotes: input.privateNotes ?? '',
    attributes: JSON.stringify(input.attributes),
  }));
  const created = await tx.query<{ id: string; stockNumber: string }>(sql`
    insert into items (id, organization_id, kind, stock_number, title, description, price_amount, units, tax_treatment,
      location_id, serial_number, cost_amount, private_notes, attributes, is_hidden, created_at)
    select id, ${organizationId}, kind, stock_number, title, description, price_amount, units, tax_treatment,
      location_id, serial_number, cost_amount, private_notes, attributes::jsonb, is_hidden,
      ${transactionTime(context.now())}
    from ${unnestRows('rows', rows, COLUMNS)} order by stock_number
    on conflict (organization_id, stock_number) do nothing
    returning id, stock_number as "stockNumber"`);
  return new Map(created.map(({ id, stockNumber }) => [stockNumber, id]));
}
