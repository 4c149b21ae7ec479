import { useQuery } from '@tanstack/react-query';
import { orderCan } from '../../../../../src/contract/states/order-can.ts';
import { type Order, type Suggestion, suggestionsQuery } from '../order-queries.ts';

/** What unmatched lines may be about, by line; only asked for while a line can be matched. */
export function useSuggestions(order: Order): Map<string, Suggestion[]> | undefined {
  const isWanted = orderCan.matchLine(order).isAllowed && order.lines.some(({ match }) => match === null);
  const { data } = useQuery({ ...suggestionsQuery(order.id), enabled: isWanted });
  return isWanted ? data && new Map(data.lines.map((line) => [line.line_id, line.suggestions])) : new Map();
}
