import { channelPrice, type PriceRule } from '../../../channel/projection/pricing.ts';
import { readRate } from '../../../channel/projection/sources.ts';
import type { Order } from '../../../contract/resources/order.ts';
import type { Queryable } from '../../../db/database.ts';
import { findPresentation } from '../../../dealers/integrations/integration-settings.ts';
import { currencyOf } from '../../../dealers/organization-settings.ts';
import { findFreeByPrice, findFreeByWords } from '../../../inventory/lists/find-free-items.ts';
import { type ItemSummary, summariesOf } from '../../../inventory/lists/item-summaries.ts';
import { promotionsAt } from '../../../inventory/promotions.ts';
import { readChannelPublications } from '../../../inventory/publications.ts';
import {
  numberWords,
  PRICE_TOLERANCE,
  type ReportedLine,
  rankSuggestions,
  type Suggestion,
} from './rank-suggestions.ts';

/** So many are shown for a line. */
const SUGGESTIONS_LIMIT = 5;
/** So many are looked at, by numbers and by price each. */
const CANDIDATES_LIMIT = 50;
/** Lines beyond these are matched by search. */
const LINES_LIMIT = 20;

export type ChannelSuggestion = Suggestion & { isOnChannel: boolean };

/**
 * For each line of an order that is matched to nothing: the items that it may be about, the likeliest first. Prices are those that
 * the channel had when the order came, with the promotions that ran then.
 */
export async function suggestItems(
  db: Queryable,
  organizationId: string,
  integrationId: string,
  order: Order,
): Promise<Map<string, ChannelSuggestion[]>> {
  const rule = await priceRule(db, organizationId, integrationId, order.currency);
  const orderedAt = new Date(order.created_at);
  const suggested = new Map<string, ChannelSuggestion[]>();
  for (const line of order.lines.filter(({ match }) => match === null).slice(0, LINES_LIMIT)) {
    const ids = await candidatesOf(db, organizationId, line, rule, orderedAt);
    const items = await summariesOf(db, organizationId, ids);
    const [promotions, publications] = await Promise.all([
      promotionsAt(db, [...items.keys()], orderedAt),
      readChannelPublications(db, integrationId, [...items.keys()]),
    ]);
    const priceOf = ({ id, priceAmount }: ItemSummary) =>
      priceAmount === null || rule === null ? null : channelPrice(promotions.get(id) ?? priceAmount, rule);
    const ranked = rankSuggestions(line, [...items.values()], priceOf).slice(0, SUGGESTIONS_LIMIT);
    suggested.set(
      line.id,
      ranked.map((suggestion) => ({ ...suggestion, isOnChannel: publications.get(suggestion.item.id) === true })),
    );
  }
  return suggested;
}

async function candidatesOf(
  db: Queryable,
  organizationId: string,
  line: ReportedLine,
  rule: PriceRule | null,
  orderedAt: Date,
): Promise<string[]> {
  const named = line.listing_id ?? line.part_id;
  const kinds = namedKinds(line);
  const nearAmount = ownAmount(line.unit_amount, rule);
  const words = numberWords(line.title ?? '');
  const byWords = await findFreeByWords(db, organizationId, { kinds, words, nearAmount, limit: CANDIDATES_LIMIT });
  const byPrice = nearAmount === null ? [] : await byAmount(db, organizationId, kinds, nearAmount, orderedAt);
  return [...(named === null ? [] : [named]), ...byWords, ...byPrice];
}

async function byAmount(
  db: Queryable,
  organizationId: string,
  kinds: ('listing' | 'part')[],
  amount: number,
  at: Date,
) {
  // A little wider than the tolerance, since channels round; the ranking has the exact prices.
  const width = PRICE_TOLERANCE * 1.4;
  const range = { from: Math.floor(amount * (1 - width)), to: Math.ceil(amount * (1 + width)) };
  return await findFreeByPrice(db, organizationId, { kinds, ...range, at, limit: CANDIDATES_LIMIT });
}

function namedKinds({ listing_id, part_id }: ReportedLine): ('listing' | 'part')[] {
  if (listing_id !== null) return ['listing'];
  return part_id === null ? ['listing', 'part'] : ['part'];
}

/** How the dealer's prices become those of the channel, in the order's currency; null if that can't be said. */
async function priceRule(
  db: Queryable,
  organizationId: string,
  integrationId: string,
  currency: string,
): Promise<PriceRule | null> {
  const own = await currencyOf(db, organizationId);
  const presentation = await findPresentation(db, integrationId);
  if (own === null || presentation === null) return null;
  const rate = await readRate(db, own, currency);
  const { markupBasisPoints, rounding } = presentation;
  return { from: own, to: currency, rate, markupBasisPoints, rounding };
}

/** A price that shows the ratio without its rounding. */
const PROBE_AMOUNT = 1_000_000_000;

/** The approximate amount in the dealer's own prices for an amount of the channel. */
function ownAmount(amount: number | null, rule: PriceRule | null): number | null {
  if (amount === null || amount === 0 || rule === null) return null;
  const probe = channelPrice(PROBE_AMOUNT, { ...rule, rounding: 'none' });
  return probe === null || probe === 0 ? null : Math.round((amount * PROBE_AMOUNT) / probe);
}
