import { isLockTimeout } from '../../db/short-lock-waits.ts';
import { plannedAnew, type Sql, sql } from '../../db/sql.ts';
import { transactionTime } from '../../db/sql-time.ts';
import { commitAndWake } from '../commit-and-wake.ts';
import type { ChannelContext } from '../context.ts';
import { projectItems } from './project-items.ts';

const BATCH_LIMIT = 100;
/** After so many batches it is another dealer's turn: 50 documents behind the 10,000 of another dealer waited 2.9 s. */
const TURN_BATCHES = 4;
/** After so many batches a worker checks whether it has to stop; the rest is due in the next round. */
const BATCHES_LIMIT = 1_000;
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
  let batches = 0;
  const isOver = () => batches >= BATCHES_LIMIT || signal?.aborted === true;

  /** Whether the dealer has more than its turn was long enough for. */
  async function takeTurn(integrationIds: string[]): Promise<boolean> {
    for (let batch = 0; batch < TURN_BATCHES && !isOver(); batch++) {
      const due = await findDue(
        context,
        integrationIds.filter((id) => !faults.has(id) && !locked.has(id)),
      );
      batches += 1;
      for (const [integrationId, rows] of Map.groupBy(due, (row) => row.integrationId)) {
        try {
          await refreshOne(context, integrationId, itemIdsOf(rows));
          projected += rows.length;
        } catch (error) {
          if (isLockTimeout(error)) {
            locked.add(integrationId);
            return true;
          }
          faults.set(integrationId, error);
        }
      }
      if (due.length < BATCH_LIMIT) return false;
    }
    return true;
  }

  /** The channels of each dealer who waits for a turn. */
  let waiting: string[][] = [];
  let last: DueChannel | null = null;
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  while (!isOver()) {
    if (waiting.length === 0 || performance.now() - lookedAtMs >= LOOK_EVERY_MS) {
      const found = await findDueChannels(context, last, [...faults.keys(), ...locked]);
      if (found.length === 0 && last === null) break;
      lookedAtMs = performance.now();
      last = found.length < CHANNELS_LIMIT ? null : (found.at(-1) ?? null);
      const byDealer = Map.groupBy(found, ({ organizationId }) => organizationId);
      waiting = [...byDealer.values()].map((own) => own.map(({ integrationId }) => integrationId));
    }
    const unfinished: string[][] = [];
    for (const own of waiting) if (await takeTurn(own)) unfinished.push(own);
    waiting = unfinished;
  }
  if (faults.size > 0) throw new AggregateError(faults.values(), `${faults.size} channels could not be projected`);
  return projected;
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
      where ${isDueOf(context)} order by ${DUE_AT} limit ${BATCH_LIMIT}) due
    where i.id = any(${integrationIds}::text[]) and i.organization_id is not null
    order by due.valid_until limit ${BATCH_LIMIT}`);
}

function itemIdsOf(rows: DueRow[]): string[] {
  return rows.map((row) => row.itemId);
}
