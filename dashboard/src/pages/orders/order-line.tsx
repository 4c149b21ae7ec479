import { Anchor, Button, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { UNMATCHED_REASON_LABELS } from '../../../../src/contract/dashboard/orders/order-labels.ts';
import { orderCan } from '../../../../src/contract/states/order-can.ts';
import { useOperation } from '../../api/queries.ts';
import { formatMoney, formatNumber, formatTime, formatUnits } from '../../format.ts';
import { paths } from '../../paths.ts';
import { Status } from '../../ui/status.tsx';
import { Thumbnail } from '../../ui/thumbnail.tsx';
import { SuggestionList } from './matching/suggestion-list.tsx';
import { unmatchedSentence } from './matching/unmatched-sentence.ts';
import { refreshOrder } from './order-actions.tsx';
import type { Order, OrderLine, PageLine, Suggestion } from './order-queries.ts';

const PHOTO_PX = 56;

type LineRowProps = {
  order: Order;
  line: OrderLine;
  page: PageLine | undefined;
  /** Undefined while they are read. */
  suggestions: Suggestion[] | undefined;
  onSearch: () => void;
};

/** A line: what the buyer saw, the item that it is matched to, or why there is none and what it may be. */
export function LineRow({ order, line, page, suggestions, onSearch }: LineRowProps) {
  const item = page?.item ?? null;
  const isMatched = line.match !== null;
  const canMatch = orderCan.matchLine(order).isAllowed;
  const reported = line.title ?? item?.title ?? 'An item without a title';
  return (
    <li className="order-line">
      <Thumbnail url={item?.photo_url ?? null} kind={item?.kind ?? null} size={PHOTO_PX} />
      <div className="order-line-body">
        <div className="order-line-top">
          <div className="order-line-name">
            {isMatched && item !== null ? (
              <Anchor component={Link} to={paths.item(item.id)} fw={600}>
                {item.title}
              </Anchor>
            ) : (
              <Text fw={600}>{reported}</Text>
            )}
            {isMatched && item !== null ? (
              <Text size="xs" c="dimmed">
                {[item.stock_number, item.reference].filter((text) => text !== null).join(' · ')}
                {line.title === null || line.title === item.title ? '' : ` · reported as “${line.title}”`}
              </Text>
            ) : null}
          </div>
          <LineAmount order={order} line={line} />
        </div>
        {isMatched ? (
          <MatchedState order={order} line={line} isGone={item === null} onSearch={onSearch} />
        ) : (
          <>
            {page?.unmatched == null ? null : (
              <Group gap="xs" align="baseline">
                <Status tone={page.unmatched.reason === 'free' ? 'info' : 'warn'}>
                  {UNMATCHED_REASON_LABELS[page.unmatched.reason]}
                </Status>
                <Text size="sm" c="dimmed">
                  {unmatchedSentence(line, page)} <HeldBy held={page.unmatched.held_by} />
                  <ReservedBy itemId={item?.id ?? null} reserved={page.unmatched.reserved_by} />
                </Text>
              </Group>
            )}
            {canMatch ? (
              <SuggestionList order={order} line={line} suggestions={suggestions} onSearch={onSearch} />
            ) : null}
          </>
        )}
      </div>
    </li>
  );
}

function HeldBy({ held }: { held: { order_id: string; channel_order_id: string }[] }) {
  if (held.length === 0) return null;
  return (
    <>
      Held for{' '}
      {held.map(({ order_id: id, channel_order_id: number }, index) => (
        <span key={id}>
          {index > 0 ? ', ' : ''}
          <Anchor component={Link} to={paths.order(id)} inherit>
            {number}
          </Anchor>
        </span>
      ))}
      .
    </>
  );
}

type ReservedByProps = { itemId: string | null; reserved: { reference: string | null; expires_at: string }[] };

/** A checkout that holds the item. It can be released on the item's page. */
function ReservedBy({ itemId, reserved }: ReservedByProps) {
  const [first, ...others] = reserved;
  if (first === undefined || itemId === null) return null;
  const reference = first.reference === null ? '' : ` (${first.reference})`;
  return (
    <>
      {' '}
      <Anchor component={Link} to={paths.item(itemId)} inherit>
        {others.length === 0 ? `Reserved for a checkout${reference}` : `Reserved for ${reserved.length} checkouts`}
      </Anchor>{' '}
      until {formatTime(first.expires_at)}.
    </>
  );
}

type MatchedStateProps = { order: Order; line: OrderLine; isGone: boolean; onSearch: () => void };

function MatchedState({ order, line, isGone, onSearch }: MatchedStateProps) {
  const unmatch = useOperation('POST /orders/{order_id}/unmatch', {
    success: 'The item is off the order and free to sell.',
    onSuccess: () => refreshOrder(order.id),
  });
  if (!orderCan.unmatchLine(order).isAllowed) {
    return isGone ? (
      <Text size="sm" c="dimmed">
        The item is no longer in stock.
      </Text>
    ) : null;
  }
  return (
    <Group gap="sm">
      <Status tone="good">{order.is_test ? 'Matched' : 'Held for this order'}</Status>
      <Group gap={4}>
        <Button variant="subtle" size="compact-xs" onClick={onSearch}>
          Change
        </Button>
        <Button
          variant="subtle"
          size="compact-xs"
          loading={unmatch.isPending}
          onClick={() => unmatch.mutate({ params: { order_id: order.id }, body: { line_id: line.id } })}
        >
          Take off
        </Button>
      </Group>
    </Group>
  );
}

function LineAmount({ order, line }: { order: Order; line: OrderLine }) {
  const { unit_amount: unit, quantity, discount_amount: discount } = line;
  if (unit === null)
    return (
      <Text c="dimmed" className="order-line-amount">
        {formatUnits(quantity)}
      </Text>
    );
  return (
    <div className="order-line-amount figures">
      <Text>{formatMoney(unit * quantity - (discount ?? 0), order.currency)}</Text>
      {quantity === 1 && !discount ? null : (
        <Text size="xs" c="dimmed">
          {quantity === 1 ? '' : `${formatNumber(quantity)} × `}
          {formatMoney(unit, order.currency)}
          {discount ? ` − ${formatMoney(discount, order.currency)}` : ''}
        </Text>
      )}
    </div>
  );
}
