import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { unnestRows } from '../../db/values/unnest-rows.ts';
import { bodyOf, type Rendering } from './documents.ts';
import type { Projected } from './transitions.ts';

/** The projection as it stands in the database: what clients read until it is written anew. */
export type StoredDocument = {
  integrationId: string;
  version: string;
  itemId: string;
  kind: 'listing' | 'part';
  status: string;
  quantity: number;
  document: string;
  isUnpriceable: boolean;
  validUntil: Date | null;
  stamp: Date;
};

/** Which document: of an item on an integration's channel, in one version. */
export type DocumentKey = Pick<StoredDocument, 'integrationId' | 'version' | 'itemId'>;

const KEY_COLUMNS = { integrationId: 'text', version: 'text', itemId: 'text' } as const;
const DOCUMENT_COLUMNS = {
  ...KEY_COLUMNS,
  kind: 'text',
  status: 'text',
  quantity: 'integer',
  document: 'text',
  isUnpriceable: 'boolean',
  validUntil: 'timestamptz',
  stamp: 'timestamptz',
} as const;

export async function readStored(
  tx: Transaction,
  integrationIds: string[],
  itemIds: string[],
): Promise<StoredDocument[]> {
  return await tx.query<StoredDocument>(sql`
    select integration_id as "integrationId", api_version as version, item_id as "itemId", kind, status, quantity, document,
      is_unpriceable as "isUnpriceable", valid_until as "validUntil", updated_at as stamp
    from channel_documents
    where integration_id = any(${integrationIds}::text[]) and item_id = any(${itemIds}::text[])`);
}

export function projectedOf(stored: StoredDocument): Projected {
  const { kind, status, quantity, document, isUnpriceable } = stored;
  return { kind, status, quantity, body: bodyOf(document), isUnpriceable };
}

/** Whether storing a rendering would change anything, if only the time until which the document is valid. */
export function isOther(stored: StoredDocument, rendering: Rendering): boolean {
  return (
    bodyOf(stored.document) !== rendering.body ||
    (stored.validUntil?.getTime() ?? null) !== rendering.validUntilMs ||
    stored.isUnpriceable !== rendering.isUnpriceable
  );
}

export function writeDocuments(tx: Transaction, rows: StoredDocument[], renderer: string): void {
  if (rows.length === 0) return;
  tx.defer(sql`
    insert into channel_documents
      (integration_id, api_version, item_id, kind, status, quantity, document, is_unpriceable, valid_until, updated_at, renderer)
    select integration_id, version, item_id, kind, status, quantity, document, is_unpriceable, valid_until, stamp,
      ${renderer}
    from ${unnestRows('rows', rows, DOCUMENT_COLUMNS)}
    on conflict (integration_id, api_version, item_id) do update set
      status = excluded.status, quantity = excluded.quantity, document = excluded.document,
      is_unpriceable = excluded.is_unpriceable, valid_until = excluded.valid_until, updated_at = excluded.updated_at,
      renderer = excluded.renderer`);
}

export function removeDocuments(tx: Transaction, keys: DocumentKey[]): void {
  if (keys.length === 0) return;
  tx.defer(sql`
    delete from channel_documents d
    using ${unnestRows('removed', keys, KEY_COLUMNS)}
    where d.integration_id = removed.integration_id and d.api_version = removed.version and d.item_id = removed.item_id`);
}
