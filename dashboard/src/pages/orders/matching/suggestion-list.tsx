import { Button, Skeleton, Text } from '@mantine/core';
import type { SuggestionReason } from '../../../../../src/contract/dashboard/orders/order-labels.ts';
import { useOperation } from '../../../api/queries.ts';
import { formatMoney, formatNumber } from '../../../format.ts';
import { useSession } from '../../../shell/session/session.ts';
import { Thumbnail } from '../../../ui/thumbnail.tsx';
import { refreshOrder } from '../order-actions.tsx';
import type { Order, OrderLine, Suggestion } from '../order-queries.ts';

type SuggestionListProps = {
  order: Order;
  line: OrderLine;
  suggestions: Suggestion[] | undefined;
  onSearch: () => void;
};

/** What a line may be about, the likeliest first, each with its reasons and one button. */
export function SuggestionList({ order, line, suggestions, onSearch }: SuggestionListProps) {
  const { organization } = useSession();
  const match = useOperation('POST /orders/{order_id}/match', {
    success: 'Matched. The units are held for this order.',
    onSuccess: () => refreshOrder(order.id),
  });
  const params = { order_id: order.id };
  if (suggestions === undefined) return <Skeleton height={40} mt="xs" />;
  const search = (
    <Button variant="default" size="compact-sm" className="suggestions-search" onClick={onSearch}>
      Search your stock
    </Button>
  );
  if (suggestions.length === 0) return search;
  return (
    <>
      <ul className="suggestions" aria-label={`Suggestions for ${line.title ?? 'the line'}`}>
        {suggestions.map(({ item, reasons, price_difference_percent: difference, is_on_channel: isOnChannel }) => (
          <li key={item.id}>
            <Thumbnail url={item.photo_url} kind={item.kind} size={40} />
            <div className="suggestion-name">
              <Text size="sm" truncate>
                {item.title}
              </Text>
              <Text size="xs" c="dimmed" truncate>
                {item.stock_number}
                {item.price_amount === null ? '' : ` · ${formatMoney(item.price_amount, organization.currency)}`}
              </Text>
              <Text size="xs" className="suggestion-reasons">
                {reasons.map((reason) => reasonText(reason, item.reference, { difference, isOnChannel })).join(' · ')}
              </Text>
            </div>
            <Button
              variant="default"
              size="compact-sm"
              aria-label={`Match ${item.title}`}
              loading={match.isPending && match.variables.body.item_id === item.id}
              onClick={() => match.mutate({ params, body: { line_id: line.id, item_id: item.id } })}
            >
              Match
            </Button>
          </li>
        ))}
      </ul>
      {search}
    </>
  );
}

type PriceHint = { difference: number | null; isOnChannel: boolean };

function reasonText(reason: SuggestionReason, reference: string | null, price: PriceHint): string {
  switch (reason) {
    case 'id':
      return 'The site named it';
    case 'stock_number':
      return 'Its stock number is in the title';
    case 'reference':
      return `Reference ${reference ?? ''} is in the title`;
    case 'price':
      return priceText(price.difference ?? 0, price.isOnChannel);
  }
}

/** The order's own price beside what the channel asked when the order came. */
function priceText(difference: number, isOnChannel: boolean): string {
  const percent = `${formatNumber(Math.abs(difference))} % ${difference > 0 ? 'more' : 'less'}`;
  if (!isOnChannel) return `Not on the channel, where it would cost ${difference === 0 ? 'the same' : percent}`;
  return difference === 0 ? 'Same price on the channel' : `Costs ${percent} on the channel`;
}
