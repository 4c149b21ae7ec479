import type { Actor } from '../audit/actor.ts';
import { recordAudit } from '../audit/record-audit.ts';
import type { ChannelContext } from '../channel/context.ts';
import { isPriceOnRequest } from '../channel/projection/pricing.ts';
import { PROMOTIONS_PER_ITEM_LIMIT } from '../contract/dashboard/limits.ts';
import { DomainError } from '../contract/domain-error.ts';
import { AMOUNT_LIMIT } from '../contract/limits.ts';
import type { Queryable, Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { clockTime } from '../db/sql-time.ts';
import { isAtLimit } from '../dealers/row-limit.ts';
import { newId } from '../ids/new-id.ts';
import { changeItem, type LockedItem } from './change-items.ts';

export type PromotionInput = {
  /** The promotional price, in minor units of the organization's currency. */
  priceAmount: number;
  /** Instants. The browser converts what people type in the dealer's time zone (`dashboard/src/time-zone.ts`). */
  startsAt: Date;
  /** Null runs until it is ended. */
  endsAt: Date | null;
};

/** Plans or starts a promotion, which then begins and ends on time. */
export async function startPromotion(
  context: ChannelContext,
  actor: Actor,
  organizationId: string,
  itemId: string,
  input: PromotionInput,
): Promise<string> {
  const id = newId('promotion');
  await changeItem(context, { organizationId, itemId }, async (tx, item) => {
    if (isPriceOnRequest(item.priceAmount)) {
      throw new DomainError('invalid_input', 'An item without a price cannot have a promotion.', 'priceAmount');
    }
    await assertPromotion(tx, item, id, input);
    await assertNotOver(tx, context, input);
    // The item's row is the lock of its promotions.
    const rows = sql`select from promotions where item_id = ${itemId}`;
    if (await isAtLimit(tx, { rows, limit: PROMOTIONS_PER_ITEM_LIMIT })) {
      const message = `An item has at most ${PROMOTIONS_PER_ITEM_LIMIT} promotions. End an old one first.`;
      throw new DomainError('limit_reached', message);
    }
    await tx.query(sql`
      insert into promotions (id, item_id, organization_id, price_amount, starts_at, ends_at)
      values (${id}, ${itemId}, ${organizationId}, ${input.priceAmount}, ${input.startsAt}, ${input.endsAt})`);
    await recordAudit(tx, actor, {
      organizationId,
      action: 'promotion.started',
      object: { kind: 'item', id: itemId },
      new: { promotionId: id, ...input },
      at: context.now(),
    });
  });
  return id;
}

export async function changePromotion(
  context: ChannelContext,
  actor: Actor,
  organizationId: string,
  promotionId: string,
  input: PromotionInput,
  ofItemId?: string,
): Promise<void> {
  const itemId = await itemOf(context, organizationId, promotionId, ofItemId);
  await changeItem(context, { organizationId, itemId }, async (tx, item) => {
    await assertPromotion(tx, item, promotionId, input);
    const [old] = await tx.query<PromotionInput>(sql`
      select price_amount as "priceAmount", starts_at as "startsAt", ends_at as "endsAt"
      from promotions where id = ${promotionId}`);
    if (old === undefined) throw missing();
    // One that is over may still be corrected.
    if (old.endsAt?.getTime() !== input.endsAt?.getTime()) await assertNotOver(tx, context, input);
    await tx.query(sql`
      update promotions set price_amount = ${input.priceAmount}, starts_at = ${input.startsAt}, ends_at = ${input.endsAt}
      where id = ${promotionId}`);
    await recordAudit(tx, actor, {
      organizationId,
      action: 'promotion.changed',
      object: { kind: 'item', id: itemId },
      old,
      new: input,
      about: { promotionId },
      at: context.now(),
    });
  });
}

/** Ends a promotion now, or cancels one that has not begun. */
export async function endPromotion(
  context: ChannelContext,
  actor: Actor,
  organizationId: string,
  promotionId: string,
  ofItemId?: string,
): Promise<void> {
  const itemId = await itemOf(context, organizationId, promotionId, ofItemId);
  await changeItem(context, { organizationId, itemId }, async (tx) => {
    const [old] = await tx.query<PromotionInput>(sql`
      delete from promotions where id = ${promotionId}
      returning price_amount as "priceAmount", starts_at as "startsAt", ends_at as "endsAt"`);
    if (old === undefined) throw missing();
    await recordAudit(tx, actor, {
      organizationId,
      action: 'promotion.ended',
      object: { kind: 'item', id: itemId },
      old: { promotionId, ...old },
      at: context.now(),
    });
  });
}

/**
 * A price that is not above every promotion that runs or is planned is refused: the dealer decides whether to change the
 * promotion or the price.
 */
export function belowPromotionError(): DomainError {
  const message = 'A promotion that runs or is planned costs as much or more. Change or end it first.';
  return new DomainError('invalid_input', message, 'priceAmount');
}

/** The highest price of a promotion that runs or is planned, for those of the items that have one. */
export async function highestPromotions(
  db: Queryable,
  context: ChannelContext,
  itemIds: string[],
): Promise<Map<string, number>> {
  const rows = await db.query<{ itemId: string; highest: number }>(sql`
    select item_id as "itemId", max(price_amount) as highest from promotions
    where item_id = any(${itemIds}::text[]) and coalesce(ends_at, 'infinity') > ${clockTime(context.now())}
    group by item_id`);
  return new Map(rows.map(({ itemId, highest }) => [itemId, highest]));
}

/** The promotional prices of those items whose promotion ran at a time. */
export async function promotionsAt(db: Queryable, itemIds: string[], at: Date): Promise<Map<string, number>> {
  const rows = await db.query<{ itemId: string; priceAmount: number }>(sql`
    select item_id as "itemId", price_amount as "priceAmount" from promotions
    where item_id = any(${itemIds}::text[]) and starts_at <= ${at} and coalesce(ends_at, 'infinity') > ${at}`);
  return new Map(rows.map(({ itemId, priceAmount }) => [itemId, priceAmount]));
}

/** If an item is named, a promotion of another one is the same as a missing one. */
async function itemOf(
  context: ChannelContext,
  organizationId: string,
  promotionId: string,
  ofItemId: string | undefined,
): Promise<string> {
  const [row] = await context.db.query<{ item_id: string }>(sql`
    select item_id from promotions where id = ${promotionId} and organization_id = ${organizationId}`);
  if (row === undefined || (ofItemId !== undefined && row.item_id !== ofItemId)) throw missing();
  return row.item_id;
}

/** The item's row is locked, so no other promotion of it can appear between this check and the write. */
async function assertPromotion(tx: Transaction, item: LockedItem, id: string, input: PromotionInput): Promise<void> {
  if (!Number.isInteger(input.priceAmount) || input.priceAmount < 0 || input.priceAmount > AMOUNT_LIMIT) {
    throw new DomainError(
      'invalid_input',
      'The promotional price must be a whole number of minor units.',
      'priceAmount',
    );
  }
  if (item.priceAmount !== null && input.priceAmount >= item.priceAmount) {
    throw new DomainError('invalid_input', 'A promotion must cost less than the regular price.', 'priceAmount');
  }
  assertMoment(input.startsAt, 'startsAt');
  if (input.endsAt !== null) assertMoment(input.endsAt, 'endsAt');
  if (input.endsAt !== null && input.endsAt <= input.startsAt) {
    throw new DomainError('invalid_input', 'A promotion must end after it starts.', 'endsAt');
  }
  const others = await tx.query(sql`
    select id from promotions
    where item_id = ${item.id} and id <> ${id}
      and starts_at < coalesce(${input.endsAt}::timestamptz, 'infinity')
      and coalesce(ends_at, 'infinity') > ${input.startsAt}
    limit 1`);
  if (others.length > 0) {
    throw new DomainError('promotion_overlaps', 'Another promotion of this item runs in that time.', 'startsAt');
  }
}

/** A promotion that is over before it is stored is a slip of the year or the day. */
async function assertNotOver(tx: Transaction, context: ChannelContext, { endsAt }: PromotionInput): Promise<void> {
  const over = await tx.query(sql`select where ${endsAt}::timestamptz <= ${clockTime(context.now())}`);
  if (over.length > 0) {
    throw new DomainError('invalid_input', 'This end has passed. Enter a later one.', 'endsAt');
  }
}

/** Times are printed with four digits for the year. */
function assertMoment(moment: Date, field: string): void {
  const year = moment.getUTCFullYear();
  if (!(year >= 1970 && year <= 9999)) {
    throw new DomainError('invalid_input', 'The time must be a date from 1970 to 9999.', field);
  }
}

function missing(): DomainError {
  return new DomainError('not_found', 'There is no such promotion.');
}
