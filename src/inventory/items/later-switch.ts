import { type LaterChange, readLaterChanges } from '../../audit/later-changes.ts';
import type { Values } from '../../audit/record-audit.ts';
import type { Transaction } from '../../db/database.ts';

/** A switch of an item: hidden or shown, or on or off a channel. */
export type ItemSwitch = 'hidden' | { integrationId: string };

/** What people and jobs have switched on items after a change. A later change and its own undo cancel each other. */
export type LaterSwitches = {
  /** Whether somebody has decided again that a switch stands as the change left it. */
  isDecided(itemId: string, what: ItemSwitch, left: boolean): boolean;
  /** Whether somebody has used any switch of the item. */
  isAnySwitched(itemId: string): boolean;
};

/** Toggles are recorded as `setHidden` and `setPublished` do it, or as a job does that sets many fields. */
const FIELDS = ['isHidden', 'isOn', 'integrationId', 'channels'];

/**
 * Asks the audit log, because the value can't say it: an item that was hidden, shown and hidden again is hidden by the last
 * decision. An item with too many changes since counts as switched. The items are locked.
 */
export async function readLaterSwitches(
  tx: Transaction,
  organizationId: string,
  auditId: string,
  itemIds: readonly string[],
): Promise<LaterSwitches> {
  const byItem = await readLaterChanges(tx, { organizationId, auditId }, itemIds, FIELDS);
  return {
    isDecided(itemId, what, left) {
      const changes = byItem.get(itemId);
      if (changes === null) return true;
      const decisions = withoutUndone((changes ?? []).filter(({ values }) => stateIn(values, what) !== undefined));
      const last = decisions.at(-1);
      // A job has one row in the log, of its beginning. What somebody did before the job came to the item is later than that
      // row, and ended in what the job then changed.
      return last !== undefined && stateIn(last.values, what) === left;
    },
    isAnySwitched(itemId) {
      const changes = byItem.get(itemId);
      return changes === null || withoutUndone(changes ?? []).length > 0;
    },
  };
}

/** Those of the items of which nobody has decided again, after a change, that a switch stands as the change left it. */
export async function notSwitchedSince(
  tx: Transaction,
  organizationId: string,
  itemIds: string[],
  { what, left, auditId }: { what: ItemSwitch; left: boolean; auditId: string },
): Promise<string[]> {
  const later = await readLaterSwitches(tx, organizationId, auditId, itemIds);
  return itemIds.filter((id) => !later.isDecided(id, what, left));
}

function withoutUndone(changes: LaterChange[]): LaterChange[] {
  const ids = new Set(changes.map(({ id }) => id));
  const undone = new Set(changes.map(({ undoes }) => undoes));
  return changes.filter(({ id, undoes }) => !undone.has(id) && (undoes === null || !ids.has(undoes)));
}

/** What a change made of a switch; undefined if it did not touch it. */
function stateIn(values: Values, what: ItemSwitch): unknown {
  if (what === 'hidden') return values.isHidden;
  const { integrationId } = what;
  if (values.isOn !== undefined && values.integrationId === integrationId) return values.isOn;
  return ((values.channels ?? {}) as Values)[integrationId];
}
