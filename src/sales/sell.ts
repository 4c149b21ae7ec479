import type { Actor } from '../audit/actor.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { lockClocks } from '../channel/clock.ts';
import type { ChannelContext } from '../channel/context.ts';
import { integrationsOf } from '../channel/projection/project-items.ts';
import { DomainError } from '../contract/domain-error.ts';
import { namesOfCustomers } from '../customers/customer-names.ts';
import { lockCustomers } from '../customers/upsert-customers.ts';
import { type Attempt, onlyOnce } from '../db/attempts.ts';
import type { Database, Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { transactionTime } from '../db/sql-time.ts';
import { currencyOf } from '../dealers/organization-settings.ts';
import { newId } from '../ids/new-id.ts';
import { changeItem, type LockedItem } from '../inventory/change-items.ts';
import { integrationsReserving } from '../inventory/units/item-reservations.ts';
import { assertUnits, changeUnits } from '../inventory/units/movements.ts';
import { alreadyVoided, cancelSale } from './orders/order-operations.ts';
import { releaseForSale } from './reservations/dealer-reservations.ts';

/** What a sale over the counter brought, in the dealer's currency, and who bought it; null where nobody said so. */
export type SaleTerms = {
  amount: number | null;
  customerId: string | null;
  /** If too few units are free, as many reservations of clients are released as the sale needs. */
  releasesReservations: boolean;
};

/**
 * Sells units over the counter. A listing whose last unit goes is `sold`; a part is `sold_out`. Returns the id of the sale. An
 * attempt that has a name and comes again, as when its answer was lost, sells nothing more.
 */
export async function sellUnits(
  context: ChannelContext,
  actor: Actor,
  organizationId: string,
  itemId: string,
  units: number,
  terms: Partial<SaleTerms> & { attempt?: Attempt | undefined } = {},
): Promise<string> {
  assertUnits(units);
  const { amount = null, customerId = null, releasesReservations = false, attempt } = terms;
  const withBuyer = lockingBuyer(context, organizationId, customerId);
  const sell = async (tx: Transaction, item: LockedItem) => {
    const id = newId('sale');
    const currency = await currencyOf(tx, organizationId);
    await lockChannels(tx, itemId);
    if (releasesReservations) await releaseForSale(tx, context, actor, organizationId, item, units);
    await changeUnits(tx, item, -units);
    await tx.query(sql`
      insert into sales (id, organization_id, item_id, title, stock_number, units, amount, currency, customer_id,
        attempt, attempt_fingerprint, created_at)
      values (${id}, ${organizationId}, ${itemId}, ${item.title}, ${item.stockNumber}, ${units}, ${amount}, ${currency},
        ${customerId}, ${attempt?.name ?? null}, ${attempt?.fingerprint ?? null}, ${transactionTime(context.now())})`);
    await recordAudit(tx, actor, {
      organizationId,
      action: 'sale.made',
      object: { kind: 'item', id: itemId },
      old: { units: item.units },
      new: { units: item.units - units, saleId: id, ...(amount === null ? {} : { amount }) },
      ...(amount === null ? {} : { about: { currency } }),
      at: context.now(),
    });
    return id;
  };
  return await onlyOnce(context.db, 'sales', organizationId, attempt, () =>
    changeItem(withBuyer, { organizationId, itemId }, sell),
  );
}

/**
 * Corrects what a sale brought or who bought it. The buyer of an order's sale is the order's, and is assigned there. No
 * client reads any of it.
 */
export async function changeSale(
  context: ChannelContext,
  actor: Actor,
  organizationId: string,
  saleId: string,
  changes: Partial<SaleTerms>,
): Promise<void> {
  const { customerId } = changes;
  const withBuyer = lockingBuyer(context, organizationId, customerId ?? null);
  await withBuyer.db.transaction(async (tx) => {
    const [sale] = await tx.query<SaleTerms & { currency: string | null; orderId: string | null; status: string }>(sql`
      select amount, currency, customer_id as "customerId", order_id as "orderId", status from sales
      where id = ${saleId} and organization_id = ${organizationId} for update`);
    if (sale === undefined) throw missingSale();
    if (sale.status === 'voided') throw alreadyVoided();
    if (customerId !== undefined && sale.orderId !== null) {
      throw new DomainError('wrong_kind', 'The buyer of this sale is the buyer of its order.', 'customerId');
    }
    const terms = { amount: sale.amount, customerId: sale.customerId, ...changes };
    // Sales of older releases have no currency. A page shows them that of the business.
    const currency = sale.currency ?? (await currencyOf(tx, organizationId));
    await tx.query(sql`
      update sales set amount = ${terms.amount}, currency = ${currency}, customer_id = ${terms.customerId}
      where id = ${saleId}`);
    await recordAudit(tx, actor, {
      organizationId,
      action: 'sale.changed',
      object: { kind: 'sale', id: saleId },
      old: { amount: sale.amount, customerId: sale.customerId },
      new: { amount: terms.amount, customerId: terms.customerId },
      ...(terms.amount === sale.amount ? {} : { about: { currency } }),
      at: context.now(),
    });
  });
}

/**
 * The same context, whose transactions begin with the lock of the customers: nobody merges or erases the buyer before the
 * sale is there to be found.
 */
function lockingBuyer(context: ChannelContext, organizationId: string, customerId: string | null): ChannelContext {
  if (customerId === null) return context;
  const { db } = context;
  const transaction: Database['transaction'] = (work, options) =>
    db.transaction(async (tx) => {
      lockCustomers(tx, organizationId);
      await assertCustomer(tx, organizationId, customerId);
      return await work(tx);
    }, options);
  return { ...context, db: { ...db, transaction } };
}

/** A sale over the counter is a live one, and so is its buyer. */
async function assertCustomer(tx: Transaction, organizationId: string, customerId: string): Promise<void> {
  const customer = (await namesOfCustomers(tx, organizationId, [customerId])).get(customerId);
  if (customer === undefined) throw new DomainError('not_found', 'There is no such customer.', 'customerId');
  if (customer.isTest) throw new DomainError('wrong_kind', 'A test customer buys nothing real.', 'customerId');
}

/**
 * The clocks of all that show the item or have it reserved. They come before the rows of sales and of their counts, as in a merge
 * of customers, which moves sales under the clocks of the orders that it moves.
 */
async function lockChannels(tx: Transaction, itemId: string): Promise<void> {
  const integrationIds = [...(await integrationsOf(tx, [itemId])), ...(await integrationsReserving(tx, [itemId]))];
  await lockClocks(tx, [...new Set(integrationIds)].sort());
}

function missingSale(): DomainError {
  return new DomainError('not_found', 'There is no such sale.');
}

/**
 * Voids a sale: its units return to stock. The sale of a reported order takes the order back to the queue with it. If an item is
 * named, a sale of another one is the same as a missing one.
 */
export async function voidSale(
  context: ChannelContext,
  actor: Actor,
  organizationId: string,
  saleId: string,
  ofItemId?: string,
): Promise<void> {
  const [sale] = await context.db.query<{ item_id: string | null; units: number; is_test: boolean }>(sql`
    select item_id, units, is_test from sales where id = ${saleId} and organization_id = ${organizationId}`);
  if (sale === undefined || (ofItemId !== undefined && sale.item_id !== ofItemId)) throw missingSale();
  const [line] = await context.db.query<{ order_id: string }>(sql`
    select order_id from order_lines where sale_id = ${saleId}`);
  if (line !== undefined) {
    await cancelSale(context, actor, organizationId, line.order_id, saleId);
    return;
  }
  const markVoided = sql`
    update sales set status = 'voided', voided_at = ${transactionTime(context.now())}
    where id = ${saleId} and status = 'completed' returning id`;
  const voided = {
    organizationId,
    action: 'sale.voided',
    object: { kind: 'sale', id: saleId },
    old: { status: 'completed' },
    new: { status: 'voided', itemId: sale.item_id, units: sale.units },
    at: context.now(),
  } as const;
  if (sale.item_id === null || sale.is_test) {
    // The item was deleted meanwhile, or the sale was a test: there is nothing to give back.
    await context.db.transaction(async (tx) => {
      if ((await tx.query(markVoided)).length === 0) throw alreadyVoided();
      await recordAudit(tx, actor, voided);
    });
    return;
  }
  try {
    await changeItem(context, { organizationId, itemId: sale.item_id }, async (tx, item) => {
      await lockChannels(tx, item.id);
      if ((await tx.query(markVoided)).length === 0) throw alreadyVoided();
      await changeUnits(tx, item, sale.units);
      await recordAudit(tx, actor, voided);
    });
  } catch (error) {
    // The item was deleted in this very moment; the sale knows it by now.
    if (!(error instanceof DomainError && error.code === 'not_found')) throw error;
    await voidSale(context, actor, organizationId, saleId);
  }
}
