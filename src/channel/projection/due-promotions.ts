import { isLockTimeout } from '../../db/short-lock-waits.ts';
import { plannedAnew, type Sql, sql } from '../../db/sql.ts';
import { transactionTime } from '../../db/sql-time.ts';
import { commitAndWake } from '../commit-and-wake.ts';
import type { ChannelContext } from '../context.ts';
import { projectItems } from './project-items.ts';

/** So many documents of a dealer are looked up at a time. */
const FOUND_LIMIT = 100;
/** Like a batch of a mass change, a transaction holds the clock, which the integration's orders wait for. */
const TRANSACTION_DOCUMENTS = 50;
/**
 * After so many transactions, or so long, it is another dealer's turn: 50 documents behind the 10,000 of another dealer waited
 * 2.9 s. Not after so many documents: those of a dealer with a hundred channels are a transaction for each.
 */
export const TURN_TRANSACTIONS = 4;
const TURN_MS = 200;
/** After so many transactions a worker checks whether it has to stop; the rest is due in the next round. */
const TRANSACTIONS_LIMIT = 2_000;
/** So many channels are looked up at a time; then those behind them. */
const CHANNELS_LIMIT = 1_000;
/**
 * What falls due meanwhile is found after so long, as by a worker that has nothing to do. Not before each turn: with 100,000
 * documents due, the look takes as long as a turn.
 */
const LOOK_EVERY_MS = 500;

/**
 * Projects documents whose time has come: a promotion started or ended. The moments are rows, not timers, so they
 * hold over restarts and any number of workers may look. Returns how many documents were due. Dealers take turns.
 *
 * An integration that fails does not keep the others waiting; what it failed with is thrown at the end. One whose clock somebody
 * holds for long ends its dealer's turn, and is left for the next call.
 */
export async function refreshDue(context: ChannelContext, signal?: AbortSignal): Promise<number> {
  const faults = new Map<string, unknown>();
  /** Channels whose clock somebody else held for too long. */
  const locked = new Set<string>();
  let projected = 0;
  let transactions = 0;
  const isOver = () => transactions >= TRANSACTIONS_LIMIT || signal?.aborted === true;
  const isLeftOut = (integrationId: string) => faults.has(integrationId) || locked.has(integrationId);

  async function find(dealer: WaitingDealer): Promise<void> {
    const rows = await findDue(
      context,
      dealer.integrationIds.filter((id) => !isLeftOut(id)),
    );
    dealer.hasMore = rows.length === FOUND_LIMIT;
    dealer.found = transactionsOf(rows);
  }

  /** Whether the dealer has more than its turn was long enough for. */
  async function takeTurn(dealer: WaitingDealer): Promise<boolean> {
    const startedMs = performance.now();
    const isTurnOver = () => performance.now() - startedMs >= TURN_MS || isOver();
    for (let count = 0; count < TURN_TRANSACTIONS && !(count > 0 && isTurnOver()); count++) {
      if (dealer.found.length === 0 && dealer.hasMore) await find(dealer);
      const next = dealer.found.shift();
      if (next === undefined) return false;
      transactions += 1;
      try {
        await refreshOne(context, next.integrationId, next.itemIds);
        projected += next.itemIds.length;
      } catch (error) {
        if (isLockTimeout(error)) locked.add(next.integrationId);
        else faults.set(next.integrationId, error);
        dealer.found = dealer.found.filter(({ integrationId }) => !isLeftOut(integrationId));
        if (locked.has(next.integrationId)) return true;
      }
    }
    return true;
  }

  let waiting: WaitingDealer[] = [];
  let last: DueChannel | null = null;
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  while (!isOver()) {
    if (waiting.length === 0 || performance.now() - lookedAtMs >= LOOK_EVERY_MS) {
      const found = await findDueChannels(context, last, [...faults.keys(), ...locked]);
      if (found.length === 0 && last === null) break;
      lookedAtMs = performance.now();
      last = found.length < CHANNELS_LIMIT ? null : (found.at(-1) ?? null);
      const byDealer = Map.groupBy(found, ({ organizationId }) => organizationId);
      waiting = [...byDealer.values()].map((own) => {
        const integrationIds = own.map(({ integrationId }) => integrationId);
        return { integrationIds, found: [], hasMore: true };
      });
    }
    const unfinished: WaitingDealer[] = [];
    for (const dealer of waiting) if (!isOver() && (await takeTurn(dealer))) unfinished.push(dealer);
    waiting = unfinished;
  }
  if (faults.size > 0) throw new AggregateError(faults.values(), `${faults.size} channels could not be projected`);
  return projected;
}

/** A dealer who waits for a turn. */
type WaitingDealer = {
  integrationIds: string[];
  /** What was found due and is not projected yet. */
  found: DueTransaction[];
  /** Whether more may be due than was found. */
  hasMore: boolean;
};

type DueTransaction = { integrationId: string; itemIds: string[] };

/** One channel in each, since a transaction locks its clock. */
function transactionsOf(due: DueRow[]): DueTransaction[] {
  const all: DueTransaction[] = [];
  for (const [integrationId, rows] of Map.groupBy(due, (row) => row.integrationId)) {
    const itemIds = itemIdsOf(rows);
    for (let start = 0; start < itemIds.length; start += TRANSACTION_DOCUMENTS) {
      all.push({ integrationId, itemIds: itemIds.slice(start, start + TRANSACTION_DOCUMENTS) });
    }
  }
  return all;
}

/** Projects some of what is due on one channel, the longest due first; for a read that met such a document. */
export async function refreshDueOf(context: ChannelContext, integrationId: string): Promise<void> {
  const due = await findDue(context, [integrationId]);
  if (due.length > 0) await refreshOne(context, integrationId, itemIdsOf(due));
}

/** Projects some items of one integration in a transaction of its own. */
export async function refreshOne(context: ChannelContext, integrationId: string, itemIds: string[]): Promise<void> {
  await commitAndWake(context, async (tx) => {
    const { stamps } = await projectItems(tx, context, { itemIds, integrationIds: [integrationId] });
    return { touched: [...stamps.keys()] };
  });
}

type DueChannel = { organizationId: string; integrationId: string };

/**
 * The channels on which something is due, those of a dealer together, behind the last one of before. A channel without an
 * organization can't be projected; its client can't read it either.
 */
async function findDueChannels(
  context: ChannelContext,
  last: DueChannel | null,
  except: string[],
): Promise<DueChannel[]> {
  const behind =
    last === null ? sql`true` : sql`(i.organization_id, i.id) > (${last.organizationId}, ${last.integrationId})`;
  // The time is compared in both ways and the plan is made for the values at hand: if little is due the server looks at
  // that, and if much is due at each channel.
  return await context.db.query<DueChannel>(
    plannedAnew(sql`
      select i.organization_id as "organizationId", i.id as "integrationId" from integrations i
      where i.organization_id is not null and ${behind} and i.id <> all(${except}::text[])
        and exists (
          select from channel_documents d
          where ${isDueOf(context)} and d.valid_until <= ${transactionTime(context.now())})
      order by i.organization_id, i.id limit ${CHANNELS_LIMIT}`),
  );
}

/** As the index of one channel's due documents has it: that of all due ones would pass over those of the others. */
const DUE_AT = sql`(d.valid_until at time zone 'UTC')`;

/** A document `d` of the channel `i` is due. */
function isDueOf(context: ChannelContext): Sql {
  return sql`d.integration_id = i.id and d.api_version = i.api_version and d.valid_until is not null
    and ${DUE_AT} <= (${transactionTime(context.now())} at time zone 'UTC')`;
}

type DueRow = { integrationId: string; itemId: string };

/** What is due on some channels of a dealer, the longest due first. */
async function findDue(context: ChannelContext, integrationIds: string[]): Promise<DueRow[]> {
  return await context.db.query<DueRow>(sql`
    select due.integration_id as "integrationId", due.item_id as "itemId"
    from integrations i
    cross join lateral (
      select d.integration_id, d.item_id, d.valid_until from channel_documents d
      where ${isDueOf(context)} order by ${DUE_AT} limit ${FOUND_LIMIT}) due
    where i.id = any(${integrationIds}::text[]) and i.organization_id is not null
    order by due.valid_until limit ${FOUND_LIMIT}`);
}

function itemIdsOf(rows: DueRow[]): string[] {
  return rows.map((row) => row.itemId);
}
