import { DomainError } from '../../contract/domain-error.ts';
import { type MergedField, mergedFields } from '../../customers/merged-fields.ts';
import {
  type CustomerDetails,
  type CustomerLink,
  linksOfCustomers,
  readCustomer,
} from '../../customers/read-customer.ts';
import type { Database } from '../../db/database.ts';
import { forEachConflictPage } from './customer-conflicts.ts';
import { type CustomerSpend, spendOfCustomers } from './customer-spend.ts';

/** The newest conflicts that a merge looks at; the dealer can still decide on older ones one by one. */
export const CONFLICT_LIMIT = 1_000;

export type MergePreview = {
  kept: CustomerDetails;
  merged: CustomerDetails;
  fields: MergedField[];
  /** What the merged customer spent and its links, which pass to the kept one. */
  moved: CustomerSpend;
  movedLinks: CustomerLink[];
  /** Orders whose buyer was both of them, which are the kept one's then. */
  resolvedOrders: number;
};

/** What a merge of two customers would do. Nothing changes. */
export async function previewMerge(
  db: Database,
  organizationId: string,
  keptId: string,
  mergedId: string,
): Promise<MergePreview> {
  const kept = await readCustomer(db, organizationId, keptId);
  const merged = await readCustomer(db, organizationId, mergedId, 'mergedId');
  assertMergeable(kept, merged);
  const [spend, movedLinks, resolvedOrders] = await Promise.all([
    spendOfCustomers(db, [mergedId]),
    linksOfCustomers(db, [mergedId]),
    countResolved(db, organizationId, kept, merged),
  ]);
  const none = { orderCount: 0, isCapped: false, lastOrderAt: null, spent: [] };
  return {
    kept,
    merged,
    fields: mergedFields(kept, merged),
    moved: spend.get(mergedId) ?? none,
    movedLinks,
    resolvedOrders,
  };
}

/** The conflicts in which the buyer is these two and nobody else. */
async function countResolved(
  db: Database,
  organizationId: string,
  kept: CustomerDetails,
  merged: CustomerDetails,
): Promise<number> {
  const pair = new Set([kept.id, merged.id]);
  let count = 0;
  await forEachConflictPage(db, organizationId, [kept.isTest], CONFLICT_LIMIT, (conflicts) => {
    count += conflicts.filter(
      ({ customers, isDecidedByMerge }) => isDecidedByMerge && customers.every(({ id }) => pair.has(id)),
    ).length;
  });
  return count;
}

type Mergeable = { id: string; isTest: boolean };

/** Two different customers of one mode. */
export function assertMergeable(kept: Mergeable, merged: Mergeable): void {
  if (kept.id === merged.id) {
    throw new DomainError('invalid_input', 'A customer cannot be merged with itself.', 'mergedId');
  }
  if (kept.isTest !== merged.isTest) {
    throw new DomainError('wrong_kind', 'A test customer and a live customer cannot be merged.', 'mergedId');
  }
}
