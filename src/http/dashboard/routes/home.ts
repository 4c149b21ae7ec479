import { LRUCache } from 'lru-cache';
import { readActivity } from '../../../activity/read-activity.ts';
import type { homeOperations } from '../../../contract/dashboard/home.ts';
import { DEFAULT_HOME_RANGE, HOME_RANGES, STOCK_AGE_DAYS } from '../../../contract/dashboard/home-ranges.ts';
import type { Database } from '../../../db/database.ts';
import { listChannels } from '../../../dealers/integrations/integrations.ts';
import { readOrganizationSettings } from '../../../dealers/organization-settings.ts';
import { readStockValue, type StockOfAge } from '../../../inventory/stock-value.ts';
import type { DashboardContext, Handlers } from '../call.ts';
import { DashboardError } from '../dashboard-error.ts';

export const homeHandlers: Handlers<typeof homeOperations> = {
  async getActivity({ context, user, query }) {
    const { db, channel } = context;
    const { organizationId } = user;
    const [{ timeZone }, channels] = await Promise.all([
      settingsOf(context, organizationId),
      listChannels(db, organizationId),
    ]);
    const { unit, length } = HOME_RANGES[query.range ?? DEFAULT_HOME_RANGE];
    const isWanted = (id: string) => query.integration_id === undefined || id === query.integration_id;
    const dealer = { organizationId, integrationIds: channels.map(({ id }) => id).filter(isWanted) };
    const { starts, counts, sales, amounts } = await readActivity(
      db,
      dealer,
      { unit, length, timeZone },
      channel.now(),
    );
    return {
      time_zone: timeZone,
      starts: starts.map((start) => start.toISOString()),
      orders: counts.orders,
      sales,
      amounts,
      attempts_succeeded: counts.attempts_succeeded,
      attempts_failed: counts.attempts_failed,
      dead_letters: counts.dead_letters,
      requests: counts.requests,
      request_errors: counts.request_errors,
    };
  },

  async getStockValue({ context, user }) {
    const { currency } = await settingsOf(context, user.organizationId);
    const ages = await keptStockValue(context, user.organizationId);
    return {
      currency,
      ages: ages.map(({ fromDays, items, amount, unpriced }) => ({ from_days: fromDays, items, amount, unpriced })),
    };
  },
};

async function settingsOf({ db }: DashboardContext, organizationId: string) {
  const settings = await readOrganizationSettings(db, organizationId);
  if (settings === null) throw new DashboardError('unauthenticated', 'This account belongs to no dealer any more.');
  return settings;
}

/** Open pages read the sum again with each change of stock, and its cost grows with the number of items. */
const KEPT_MS = 60_000;
const KEPT_ORGANIZATIONS = 1_000;
/** Fewer items than these are summed up each time, so that a new dealer sees the first ones at once. */
const KEPT_FROM_ITEMS = 5_000;
/** By pool, because each call has a database of its own. */
const kept = new WeakMap<Database['pool'], LRUCache<string, StockOfAge[]>>();

async function keptStockValue({ db, channel }: DashboardContext, organizationId: string): Promise<StockOfAge[]> {
  const cache = kept.get(db.pool) ?? new LRUCache<string, StockOfAge[]>({ max: KEPT_ORGANIZATIONS, ttl: KEPT_MS });
  kept.set(db.pool, cache);
  const known = cache.get(organizationId);
  if (known !== undefined) return known;
  const value = await readStockValue(db, organizationId, STOCK_AGE_DAYS, channel.now());
  const items = value.reduce((sum, age) => sum + age.items, 0);
  if (items >= KEPT_FROM_ITEMS) cache.set(organizationId, value);
  return value;
}
