import type { Database } from '../../db/database.ts';
import { type ChannelPricing, findUnpriceableChannels } from '../../dealers/rates/missing-rates.ts';
import { type Check, ok, wrong } from './check.ts';

const NAME = 'prices';
const NAMED_LIMIT = 10;

/** Counts what has no price in its channel's currency: lists with such an item answer 500. */
export async function checkPrices(db: Database): Promise<Check> {
  const channels = await findUnpriceableChannels(db, NAMED_LIMIT + 1);
  if (channels.length === 0) return ok(NAME, 'every item has one in the currency of its channel');
  const named = channels.slice(0, NAMED_LIMIT).map(textOf);
  if (channels.length > NAMED_LIMIT) named.push('and more integrations');
  const pairs = new Set(channels.filter((each) => each.isRateMissing).map(({ base, quote }) => `${base} ${quote}`));
  const mend =
    pairs.size > 0
      ? [...pairs].map((pair) => `run "rates set ${pair} …"`).join(', ')
      : 'wait for the running jobs ("jobs list --organization org_…"), or lower prices that are too large';
  return wrong(NAME, named.join('; '), mend);
}

function textOf({ integrationId, base, quote, isRateMissing, unpriceable }: ChannelPricing): string {
  const items = `${unpriceable} ${unpriceable === 1 ? 'item' : 'items'} of ${integrationId} cannot be priced`;
  return isRateMissing ? `${items}: there is no rate for ${base}/${quote}` : items;
}
