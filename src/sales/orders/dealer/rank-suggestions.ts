import type { SuggestionReason } from '../../../contract/dashboard/orders/order-labels.ts';
import type { ItemSummary } from '../../../inventory/lists/item-summaries.ts';

/** What the client reported of a line. */
export type ReportedLine = {
  listing_id: string | null;
  part_id: string | null;
  title: string | null;
  unit_amount: number | null;
  quantity: number;
};

export type Suggestion = { item: ItemSummary; reasons: SuggestionReason[]; priceDifference: number | null };

/** A reference says more than a price: many watches cost the same. A stock number names one item, and the id is certain. */
const WEIGHTS: Record<SuggestionReason, number> = { id: 1_000, stock_number: 100, reference: 10, price: 5 };
/** How far a price may be away: rounding, a discount, an exchange rate of last week. */
export const PRICE_TOLERANCE = 0.05;

/**
 * Ranks items that a line may be about, the likeliest first, each with the reasons. `channelPrice` says what an item costs
 * on the order's channel, in the order's currency. Items with too few units, or without a reason, are left out.
 */
export function rankSuggestions(
  line: ReportedLine,
  candidates: ItemSummary[],
  channelPrice: (item: ItemSummary) => number | null,
): Suggestion[] {
  const words = new Set(numberWords(line.title ?? ''));
  const named = line.listing_id ?? line.part_id;
  const suggestions = candidates
    .filter((item) => item.units - item.reservedUnits >= line.quantity)
    .map((item) => {
      const priceDifference = differenceOf(line.unit_amount, channelPrice(item));
      const reasons: SuggestionReason[] = [];
      if (item.id === named) reasons.push('id');
      if (words.has(plain(item.stockNumber))) reasons.push('stock_number');
      if (item.reference !== null && words.has(plain(item.reference))) reasons.push('reference');
      if (priceDifference !== null && Math.abs(priceDifference) <= PRICE_TOLERANCE) reasons.push('price');
      return { item, reasons, priceDifference };
    });
  return suggestions
    .filter(({ reasons }) => reasons.length > 0)
    .sort((one, other) => scoreOf(other) - scoreOf(one) || one.item.stockNumber.localeCompare(other.item.stockNumber));
}

function scoreOf({ reasons, priceDifference }: Suggestion): number {
  const sum = reasons.reduce((total, reason) => total + WEIGHTS[reason], 0);
  // Of two that fit as well, the one whose price is nearer; never more than a reason of its own.
  return sum - Math.min(1, Math.abs(priceDifference ?? 1));
}

/** The item's price against what was paid: 0.02 is 2 % more. */
function differenceOf(paid: number | null, price: number | null): number | null {
  return paid === null || price === null || paid === 0 ? null : (price - paid) / paid;
}

/** Longer titles than this say nothing more about numbers. */
const TITLE_LENGTH_LIMIT = 500;
/** 126610-LN is two words that belong together, 310.30.42.50.01.001 is six. */
const JOINED_WORDS_LIMIT = 6;
const NUMBER_LENGTH_MIN = 2;

/** What in a title may be a number of a thing: words with a digit, alone and joined with their neighbours. */
export function numberWords(title: string): string[] {
  const words = title
    .slice(0, TITLE_LENGTH_LIMIT)
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
  const joined = words.flatMap((_, start) =>
    Array.from({ length: JOINED_WORDS_LIMIT }, (_, extra) => words.slice(start, start + extra + 1).join('')),
  );
  return [...new Set(joined)].filter((word) => word.length >= NUMBER_LENGTH_MIN && /\d/.test(word));
}

function plain(number: string): string {
  return number.toLowerCase().replaceAll(/[^a-z0-9]+/g, '');
}
