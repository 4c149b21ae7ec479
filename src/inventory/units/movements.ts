import type { Actor } from '../../audit/actor.ts';
import { recordAudit } from '../../audit/record-audit.ts';
import type { ChannelContext } from '../../channel/context.ts';
import { DomainError } from '../../contract/domain-error.ts';
import { type Attempt, onlyOnce } from '../../db/attempts.ts';
import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { changeItem, type LockedItem } from '../change-items.ts';
import { assertUnitsOwned } from '../items/item-input.ts';
import { unitsReservedByClients } from './item-reservations.ts';

/**
 * Movements of stock: units come, go, are held back and let go. Each is one transaction and one stock event. An attempt that has
 * a name and comes again, as when its answer was lost, moves nothing more.
 */
export type Movement =
  /** Units arrive from a supplier. */
  | 'restock'
  /** A customer brings units back. */
  | 'return'
  /** Units are used in the workshop, such as a part that is fitted to a watch. */
  | 'fit'
  /** Units leave for another reason: lost, damaged, or sold outside the system. */
  | 'remove';

const SIGN: Record<Movement, 1 | -1> = { restock: 1, return: 1, fit: -1, remove: -1 };

export async function moveUnits(
  context: ChannelContext,
  actor: Actor,
  organizationId: string,
  itemId: string,
  movement: Movement,
  units: number,
  attempt?: Attempt,
): Promise<void> {
  assertUnits(units);
  await changeOnce(context, { organizationId, itemId }, attempt, async (tx, item) => {
    if (movement === 'fit' && item.kind !== 'part') throw new DomainError('wrong_kind', 'Only parts are fitted.');
    const difference = SIGN[movement] * units;
    await changeUnits(tx, item, difference);
    await recordAudit(tx, actor, {
      organizationId,
      action: 'item.units_moved',
      object: { kind: 'item', id: itemId },
      old: { units: item.units },
      new: { units: item.units + difference, movement },
      attempt,
      at: context.now(),
    });
  });
}

/**
 * Reserves units by hand, such as for a customer who asked in the shop. A listing whose last unit is held reads
 * `reserved`.
 */
export async function reserveUnits(
  context: ChannelContext,
  actor: Actor,
  organizationId: string,
  itemId: string,
  units: number,
  attempt?: Attempt,
): Promise<void> {
  assertUnits(units);
  await changeOnce(context, { organizationId, itemId }, attempt, async (tx, item) => {
    await changeReserved(tx, item, units);
    await recordAudit(tx, actor, {
      organizationId,
      action: 'item.units_reserved',
      object: { kind: 'item', id: itemId },
      old: { reservedUnits: item.reservedUnits },
      new: { reservedUnits: item.reservedUnits + units },
      attempt,
      at: context.now(),
    });
  });
}

/**
 * Releases units that the dealer reserved by hand. Units that an order holds are released when it is cancelled, and
 * those that a client reserved by its reservation.
 */
export async function releaseUnits(
  context: ChannelContext,
  actor: Actor,
  organizationId: string,
  itemId: string,
  units: number,
  attempt?: Attempt,
): Promise<void> {
  assertUnits(units);
  await changeOnce(context, { organizationId, itemId }, attempt, async (tx, item) => {
    const [row] = await tx.query<{ held: number }>(sql`
      select coalesce(sum(units), 0)::integer as held from order_lines where item_id = ${itemId} and is_holding`);
    const releasable = item.reservedUnits - (row?.held ?? 0) - (await unitsReservedByClients(tx, itemId));
    if (units > releasable) {
      throw new DomainError('not_enough_units', `Only ${releasable} units are reserved by hand.`, 'units');
    }
    await changeReserved(tx, item, -units);
    await recordAudit(tx, actor, {
      organizationId,
      action: 'item.units_released',
      object: { kind: 'item', id: itemId },
      old: { reservedUnits: item.reservedUnits },
      new: { reservedUnits: item.reservedUnits - units },
      attempt,
      at: context.now(),
    });
  });
}

/** The audit row of a movement holds the name of its attempt. */
async function changeOnce(
  context: ChannelContext,
  request: { organizationId: string; itemId: string },
  attempt: Attempt | undefined,
  work: (tx: Transaction, item: LockedItem) => Promise<void>,
): Promise<void> {
  await onlyOnce(context.db, 'audit_log', request.organizationId, attempt, () => changeItem(context, request, work));
}

/** Changes the units in stock. The item's row is locked. */
export async function changeUnits(tx: Transaction, item: LockedItem, difference: number): Promise<void> {
  if (item.units - item.reservedUnits + difference < 0) throw notEnough(item.units - item.reservedUnits);
  assertUnitsOwned(item.units + difference);
  await tx.query(sql`update items set units = units + ${difference} where id = ${item.id}`);
}

/** Changes the reserved units by hand. The item's row is locked. */
async function changeReserved(tx: Transaction, item: LockedItem, difference: number): Promise<void> {
  const reserved = item.reservedUnits + difference;
  if (reserved > item.units) throw notEnough(item.units - item.reservedUnits);
  await tx.query(sql`update items set reserved_units = ${reserved} where id = ${item.id}`);
}

export function assertUnits(units: number): void {
  if (!Number.isInteger(units) || units < 1) {
    throw new DomainError('invalid_input', 'The number of units must be a whole number from 1 on.', 'units');
  }
}

function notEnough(available: number): DomainError {
  return new DomainError('not_enough_units', `Only ${available} units are available.`, 'units');
}
