import type { ChannelContext } from '../../channel/context.ts';
import type { Transaction } from '../../db/database.ts';
import { rawSql, type Sql, sql } from '../../db/sql.ts';
import { removePublications } from '../../inventory/publications.ts';
import { removeOrders } from './remove-orders.ts';
import { removeReservations } from './remove-reservations.ts';

/** One kind of rows that belong to an integration or to an organization, removed some at a time. */
export type DeletionStep = {
  /** The table, which is also what `jobs list` calls the step. */
  table: string;
  owner: 'integration_id' | 'organization_id';
  /** Removes up to one batch; returns how many rows went, and which channels have new events. */
  removeBatch(tx: Transaction, context: ChannelContext, ownerId: string): Promise<RemovedBatch>;
};

export type RemovedBatch = { removed: number; touched: readonly string[] };

/** Rows of a few hundred bytes. A thousand of them take some 10 ms, and other dealers' writes pass in between. */
const ROW_LIMIT = 1_000;
/** Rows with a text of some kilobytes, or that take others along. */
const LARGE_ROW_LIMIT = 200;
/** Rows of a megabyte. */
const PIECE_LIMIT = 20;

/**
 * What an integration owns, in the order of removal: orders and reservations first, because they hold stock that the
 * dealer can sell elsewhere; deliveries before their events. What is not listed here is small and goes with the
 * integration's own row.
 */
export const INTEGRATION_STEPS: readonly DeletionStep[] = [
  { table: 'orders', owner: 'integration_id', removeBatch: removeOrders },
  { table: 'reservations', owner: 'integration_id', removeBatch: removeReservations },
  rowsOf('integration_id', 'delivery_attempts', ROW_LIMIT),
  rowsOf('integration_id', 'deliveries', ROW_LIMIT),
  rowsOf('integration_id', 'events', ROW_LIMIT),
  rowsOf('integration_id', 'channel_documents', LARGE_ROW_LIMIT),
  {
    table: 'publications',
    owner: 'integration_id',
    removeBatch: async (tx, _context, integrationId) => ({
      removed: await removePublications(tx, integrationId, LARGE_ROW_LIMIT),
      touched: [],
    }),
  },
  rowsOf('integration_id', 'idempotency_records', LARGE_ROW_LIMIT),
  rowsOf('integration_id', 'customer_external_ids', ROW_LIMIT),
  rowsOf('integration_id', 'test_customers', ROW_LIMIT),
  rowsOf('integration_id', 'api_requests', ROW_LIMIT),
  rowsOf('integration_id', 'api_request_counts', ROW_LIMIT),
  rowsOf('integration_id', 'activity_counts', ROW_LIMIT),
];

/** What an organization owns beside its integrations; rows before those that they name. */
export const ORGANIZATION_STEPS: readonly DeletionStep[] = [
  rowsOf('organization_id', 'stock_file_lines', LARGE_ROW_LIMIT),
  rowsOf('organization_id', 'stock_file_pieces', PIECE_LIMIT),
  rowsOf('organization_id', 'stock_files', ROW_LIMIT),
  rowsOf('organization_id', 'stock_column_mappings', ROW_LIMIT),
  rowsOf('organization_id', 'photo_sources', ROW_LIMIT),
  rowsOf('organization_id', 'stock_job_errors', ROW_LIMIT),
  rowsOf('organization_id', 'stock_jobs', ROW_LIMIT),
  rowsOf('organization_id', 'sales', ROW_LIMIT),
  rowsOf('organization_id', 'sales_counts', ROW_LIMIT),
  rowsOf('organization_id', 'promotions', ROW_LIMIT),
  rowsOf('organization_id', 'photos', ROW_LIMIT),
  rowsOf('organization_id', 'removed_photos', ROW_LIMIT),
  rowsOf('organization_id', 'items', LARGE_ROW_LIMIT),
  rowsOf('organization_id', 'erasure_jobs', ROW_LIMIT),
  rowsOf('organization_id', 'customers', ROW_LIMIT),
  rowsOf('organization_id', 'locations', LARGE_ROW_LIMIT),
  rowsOf('organization_id', 'business_units', LARGE_ROW_LIMIT),
  rowsOf('organization_id', 'saved_views', ROW_LIMIT),
  rowsOf('organization_id', 'mails', ROW_LIMIT),
  rowsOf('organization_id', 'mail_subscriptions', ROW_LIMIT),
  rowsOf('organization_id', 'users', LARGE_ROW_LIMIT),
  rowsOf('organization_id', 'audit_log_objects', ROW_LIMIT),
  rowsOf('organization_id', 'audit_log', ROW_LIMIT),
];

/** The rows of a step that an owner has. */
export function rowsOfOwner({ table, owner }: Pick<DeletionStep, 'table' | 'owner'>, ownerId: string): Sql {
  return sql`from ${rawSql(table)} where ${rawSql(owner)} = ${ownerId}`;
}

/**
 * A row that somebody else has locked is passed over: waiting for it would hold the batch's own locks for as long. The
 * end of the deletion looks again whether anything is left.
 */
function rowsOf(owner: DeletionStep['owner'], table: string, limit: number): DeletionStep {
  return {
    table,
    owner,
    async removeBatch(tx, _context, ownerId) {
      const [row] = await tx.query<{ removed: number }>(sql`
        with gone as (
          delete from ${rawSql(table)} where ctid = any(array(
            select ctid ${rowsOfOwner({ table, owner }, ownerId)} limit ${limit} for update skip locked))
          returning 1)
        select count(*) as removed from gone`);
      return { removed: row?.removed ?? 0, touched: [] };
    },
  };
}
