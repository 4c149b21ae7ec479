import { formatNumber } from '../../../format.ts';
import type { OrderLine, PageLine } from '../order-queries.ts';

/** Why a line has no item, as a sentence that says what stands in the way. */
export function unmatchedSentence(line: OrderLine, { item, unmatched }: PageLine): string {
  const name = item === null ? 'The item' : item.stock_number;
  const asked = formatNumber(line.quantity);
  switch (unmatched?.reason) {
    case 'unnamed':
      return 'The site did not say which item of yours it is.';
    case 'unknown':
      return `The site named ${line.listing_id ?? line.part_id}, which is not in your stock.`;
    case 'off_channel':
      return `${name} is yours, but not on this channel.`;
    case 'taken':
      return `All units of ${name} are reserved.`;
    case 'sold':
      return `${name} is sold.`;
    case 'too_few':
      return `${asked} were ordered, and ${formatNumber(unmatched.available_units)} of ${name} can be sold.`;
    case 'free':
      return `${name} can be sold now.`;
    default:
      return '';
  }
}
