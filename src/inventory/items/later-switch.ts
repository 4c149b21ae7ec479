import { type AuditPosition, type AuditRow, listAudit } from '../../audit/read-audit.ts';
import type { Values } from '../../audit/record-audit.ts';
import { LIST_PAGE_BYTES } from '../../contract/dashboard/list.ts';
import type { Transaction } from '../../db/database.ts';

/** A switch of an item: hidden or shown, or on or off a channel. */
export type ItemSwitch = 'hidden' | { integrationId: string };

const PAGE_LIMIT = 100;
/** An item with more changes than that since the one in question counts as switched. */
const PAGES_LIMIT = 10;

type Since = { organizationId: string; itemId: string; auditId: string };

/**
 * Those of the items that nobody has switched again after a change, alone or with others. The value can't say it: an item that
 * was hidden, shown and hidden again is hidden by the last decision. A later change and its own undo cancel each other. The
 * items are locked.
 */
export async function notSwitchedSince(
  tx: Transaction,
  organizationId: string,
  itemIds: string[],
  what: ItemSwitch,
  auditId: string,
): Promise<string[]> {
  const found: string[] = [];
  // A change of many has its own job as its undo, so there is one item here.
  for (const itemId of itemIds) {
    if (!(await isSwitchedSince(tx, { organizationId, itemId, auditId }, what))) found.push(itemId);
  }
  return found;
}

async function isSwitchedSince(tx: Transaction, key: Since, what: ItemSwitch): Promise<boolean> {
  const changes = await changesSince(tx, key);
  if (changes === null) return true;
  const later = changes.filter(({ newValues }) => isOf(what, newValues));
  const ids = new Set(later.map(({ id }) => id));
  const undone = new Set(later.map(({ undoes }) => undoes));
  return later.some(({ id, undoes }) => !undone.has(id) && (undoes === null || !ids.has(undoes)));
}

/** The item's changes after the one in question; null if they are too many to look at. */
async function changesSince(tx: Transaction, { organizationId, itemId, auditId }: Since): Promise<AuditRow[] | null> {
  const changes: AuditRow[] = [];
  const page = { organizationId, objectId: itemId, limit: PAGE_LIMIT, bytesLimit: LIST_PAGE_BYTES };
  let position: AuditPosition | null = null;
  for (let pages = 0; pages < PAGES_LIMIT; pages++) {
    const start: { position: AuditPosition; isBackwards: boolean } | null =
      position === null ? null : { position, isBackwards: false };
    const { rows, isMore } = await listAudit(tx, { ...page, start });
    const index = rows.findIndex(({ id }) => id === auditId);
    changes.push(...(index === -1 ? rows : rows.slice(0, index)));
    const last = rows.at(-1);
    if (index !== -1 || !isMore || last === undefined) return changes;
    position = { value: last.position, id: last.id };
  }
  return null;
}

/** Toggles are recorded as `setHidden` and `setPublished` do it, or as a job does that sets many fields. */
function isOf(what: ItemSwitch, values: Values): boolean {
  if (what === 'hidden') return values.isHidden !== undefined;
  const { integrationId } = what;
  if (values.isOn !== undefined && values.integrationId === integrationId) return true;
  return ((values.channels ?? {}) as Values)[integrationId] !== undefined;
}
