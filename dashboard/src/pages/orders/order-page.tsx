import { Anchor, Group, Text, Title } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { orderCan } from '../../../../src/contract/states/order-can.ts';
import { paths } from '../../paths.ts';
import { CopyId } from '../../ui/copy-id.tsx';
import { Page } from '../../ui/page/page.tsx';
import { TestBadge } from '../../ui/test-badge.tsx';
import { Time } from '../../ui/time.tsx';
import { ReasonButton } from '../integrations/reason-button.tsx';
import { AmountsTable } from './amounts-table.tsx';
import { BuyerPanel } from './buyer-panel.tsx';
import { MatchDialog } from './matching/match-dialog.tsx';
import { OrderActions } from './order-actions.tsx';
import { OrderFacts } from './order-facts.tsx';
import { LineRow } from './order-line.tsx';
import { type OrderPage as OrderData, orderQuery } from './order-queries.ts';
import { OrderStatus } from './order-status.tsx';
import './order.css';
import { useSuggestions } from './matching/use-suggestions.ts';
import { Timeline } from './timeline.tsx';

export function OrderPage() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const { data } = useSuspenseQuery(orderQuery(id));
  return <OrderView key={data.order.id} data={data} />;
}

function OrderView({ data }: { data: OrderData }) {
  const { order } = data;
  const matched = order.lines.filter(({ match }) => match !== null).length;
  const status = { status: order.status, line_count: order.lines.length, matched_count: matched };
  return (
    <Page title={order.channel_order_id} action={<OrderActions order={order} />}>
      <Group gap="md" mb="md" className="title-line">
        <OrderStatus order={status} />
        {order.is_test ? <TestBadge /> : null}
        <Text size="sm" c="dimmed">
          <Anchor component={Link} to={paths.integration(data.channel.integration_id)} inherit>
            {data.channel.name ?? 'A detached integration'}
          </Anchor>
          , <Time at={order.created_at} />
        </Text>
        <CopyId id={order.id} label="order id" />
      </Group>
      {order.cancellation === null ? null : <Cancellation order={order} />}
      <div className="order-page">
        <div>
          <ItemsPanel data={data} />
          <Timeline orderId={order.id} channelName={data.channel.name} />
        </div>
        <aside aria-label="Details of the order">
          <BuyerPanel data={data} />
          <OrderFacts data={data} />
        </aside>
      </div>
    </Page>
  );
}

function ItemsPanel({ data }: { data: OrderData }) {
  const { order, lines } = data;
  const suggestions = useSuggestions(order);
  // The line that an item is looked for; null adds one, undefined is closed.
  const [target, setTarget] = useState<string | null | undefined>(undefined);
  const canMatch = orderCan.matchLine(order).isAllowed;
  return (
    <section className="order-section" aria-labelledby="order-items">
      <Group justify="space-between">
        <Title order={2} size="h4" id="order-items">
          Items
        </Title>
        {canMatch ? (
          <ReasonButton
            variant="default"
            size="xs"
            reason={orderCan.addLine(order).reason}
            onClick={() => setTarget(null)}
          >
            Add an item
          </ReasonButton>
        ) : null}
      </Group>
      {order.lines.length === 0 ? (
        <Text size="sm" c="dimmed">
          The site named no items. Add what was sold, then confirm the sale.
        </Text>
      ) : (
        <ul className="order-lines">
          {order.lines.map((line, index) => (
            <LineRow
              key={line.id}
              order={order}
              line={line}
              page={lines[index]}
              // Only the first lines have suggestions.
              suggestions={suggestions && (suggestions.get(line.id) ?? [])}
              onSearch={() => setTarget(line.id)}
            />
          ))}
        </ul>
      )}
      <AmountsTable order={order} />
      {target === undefined ? null : <MatchDialog order={order} lineId={target} onClose={() => setTarget(undefined)} />}
    </section>
  );
}

function Cancellation({ order }: { order: OrderData['order'] }) {
  const by = order.cancellation?.by === 'api' ? 'The site cancelled this order' : 'You dismissed this order';
  return (
    <div className="order-note" role="note">
      {by}
      {order.cancelled_at === null ? null : (
        <>
          {' '}
          <Time at={order.cancelled_at} />
        </>
      )}
      {order.cancellation?.reason == null ? '.' : `: ${order.cancellation.reason}`}
    </div>
  );
}
