import type { ChannelContext } from '../../channel/context.ts';
import type { Transaction } from '../../db/database.ts';
import { rawSql, type Sql, sql } from '../../db/sql.ts';
import { removePublications } from '../../inventory/publications.ts';
import { areTestSalesOf, deleteTestCustomers } from '../test-mode/test-rows.ts';
import { removeOrders } from './remove-orders.ts';
import { removeReservations } from './remove-reservations.ts';

/** One kind of rows that belong to an integration or to an organization, removed some at a time. */
export type DeletionStep = {
  /** The table, which is also what `jobs list` calls the step. */
  table: string;
  /** The condition of the owner's rows. */
  isOf(ownerId: string): Sql;
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

const isOfIntegration = (id: string) => sql`integration_id = ${id}`;
const isOfOrganization = (id: string) => sql`organization_id = ${id}`;

/**
 * What an integration owns, in the order of removal: orders and reservations first, because they hold stock that the
 * dealer can sell elsewhere; deliveries before their events. What it left with the dealer stays if it is live, and goes if it
 * is of its tests. What is not listed here is small and goes with the integration's own row.
 */
export const INTEGRATION_STEPS: readonly DeletionStep[] = [
  { table: 'orders', isOf: isOfIntegration, removeBatch: removeOrders },
  rowsOf(areTestSalesOf, 'sales', ROW_LIMIT),
  { table: 'reservations', isOf: isOfIntegration, removeBatch: removeReservations },
  rowsOf(isOfIntegration, 'delivery_attempts', ROW_LIMIT),
  rowsOf(isOfIntegration, 'deliveries', ROW_LIMIT),
  rowsOf(isOfIntegration, 'events', ROW_LIMIT),
  rowsOf(isOfIntegration, 'channel_documents', LARGE_ROW_LIMIT),
  {
    table: 'publications',
    isOf: isOfIntegration,
    removeBatch: async (tx, _context, integrationId) => ({
      removed: await removePublications(tx, integrationId, LARGE_ROW_LIMIT),
      touched: [],
    }),
  },
  rowsOf(isOfIntegration, 'idempotency_records', LARGE_ROW_LIMIT),
  rowsOf(isOfIntegration, 'customer_external_ids', ROW_LIMIT),
  { table: 'test_customers', isOf: isOfIntegration, removeBatch: removeTestCustomers },
  rowsOf(isOfIntegration, 'api_requests', ROW_LIMIT),
  rowsOf(isOfIntegration, 'api_request_counts', ROW_LIMIT),
  rowsOf(isOfIntegration, 'activity_counts', ROW_LIMIT),
];

/** What an organization owns beside its integrations; rows before those that they name. */
export const ORGANIZATION_STEPS: readonly DeletionStep[] = [
  rowsOf(isOfOrganization, 'stock_file_lines', LARGE_ROW_LIMIT),
  rowsOf(isOfOrganization, 'stock_file_pieces', PIECE_LIMIT),
  rowsOf(isOfOrganization, 'stock_files', ROW_LIMIT),
  rowsOf(isOfOrganization, 'stock_column_mappings', ROW_LIMIT),
  rowsOf(isOfOrganization, 'photo_sources', ROW_LIMIT),
  rowsOf(isOfOrganization, 'stock_job_errors', ROW_LIMIT),
  rowsOf(isOfOrganization, 'stock_jobs', ROW_LIMIT),
  rowsOf(isOfOrganization, 'sales', ROW_LIMIT),
  rowsOf(isOfOrganization, 'sales_counts', ROW_LIMIT),
  rowsOf(isOfOrganization, 'promotions', ROW_LIMIT),
  rowsOf(isOfOrganization, 'photos', ROW_LIMIT),
  rowsOf(isOfOrganization, 'removed_photos', ROW_LIMIT),
  rowsOf(isOfOrganization, 'items', LARGE_ROW_LIMIT),
  rowsOf(isOfOrganization, 'erasure_jobs', ROW_LIMIT),
  rowsOf(isOfOrganization, 'customers', ROW_LIMIT),
  rowsOf(isOfOrganization, 'locations', LARGE_ROW_LIMIT),
  rowsOf(isOfOrganization, 'business_units', LARGE_ROW_LIMIT),
  rowsOf(isOfOrganization, 'saved_views', ROW_LIMIT),
  rowsOf(isOfOrganization, 'mails', ROW_LIMIT),
  rowsOf(isOfOrganization, 'mail_subscriptions', ROW_LIMIT),
  rowsOf(isOfOrganization, 'users', LARGE_ROW_LIMIT),
  rowsOf(isOfOrganization, 'audit_log_objects', ROW_LIMIT),
  rowsOf(isOfOrganization, 'audit_log', ROW_LIMIT),
];

/** The rows of a step that an owner has. */
export function rowsOfOwner({ table, isOf }: Pick<DeletionStep, 'table' | 'isOf'>, ownerId: string): Sql {
  return sql`from ${rawSql(table)} where ${isOf(ownerId)}`;
}

/**
 * A row that somebody else has locked is passed over: waiting for it would hold the batch's own locks for as long. The
 * end of the deletion looks again whether anything is left.
 */
function rowsOf(isOf: DeletionStep['isOf'], table: string, limit: number): DeletionStep {
  return {
    table,
    isOf,
    async removeBatch(tx, _context, ownerId) {
      const [row] = await tx.query<{ removed: number }>(sql`
        with gone as (
          delete from ${rawSql(table)} where ctid = any(array(
            select ctid ${rowsOfOwner({ table, isOf }, ownerId)} limit ${limit} for update skip locked))
          returning 1)
        select count(*) as removed from gone`);
      return { removed: row?.removed ?? 0, touched: [] };
    },
  };
}

/** With the test customers that nobody else knows. */
async function removeTestCustomers(
  tx: Transaction,
  _context: ChannelContext,
  integrationId: string,
): Promise<RemovedBatch> {
  const [dealer] = await tx.query<{ id: string }>(sql`
    select c.organization_id as id from test_customers t join customers c on c.id = t.customer_id
    where t.integration_id = ${integrationId} limit 1`);
  if (dealer === undefined) return { removed: 0, touched: [] };
  const { checked } = await deleteTestCustomers(tx, { organizationId: dealer.id, integrationId }, LARGE_ROW_LIMIT);
  return { removed: checked, touched: [] };
}
