import { Anchor, Button, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { formatNumber } from '../../format.ts';
import { paths } from '../../paths.ts';
import { EmptyState } from '../../ui/page/states.tsx';
import { TestBadge } from '../../ui/test-badge.tsx';
import { Time } from '../../ui/time.tsx';
import { type CustomerConflict, nameOf } from './customer-queries.ts';
import { MergeDialog } from './merge-dialog.tsx';

type ConflictListProps = { conflicts: readonly CustomerConflict[]; count: number };

/** Orders whose reported buyer is several customers. One person is merged; two people are told apart on the order. */
export function ConflictList({ conflicts, count }: ConflictListProps) {
  const [pair, setPair] = useState<{ keptId: string; mergedId: string } | null>(null);
  if (conflicts.length === 0) {
    return (
      <EmptyState title="No conflicts.">
        If the email, phone and id of an order’s buyer belong to different customers, the order appears here.
      </EmptyState>
    );
  }
  return (
    <>
      <Text size="sm" c="dimmed" mb="xs">
        The email, phone and id of these buyers belong to different customers. If they are one person, merge them.
        Otherwise open the order and say whose it is.
      </Text>
      <ul className="conflicts">
        {conflicts.map((conflict) => (
          <ConflictRow
            key={conflict.order.id}
            conflict={conflict}
            onMerge={(keptId, mergedId) => setPair({ keptId, mergedId })}
          />
        ))}
      </ul>
      {count > conflicts.length ? (
        <Text size="sm" c="dimmed">
          These are the newest {formatNumber(conflicts.length)}. The others follow when these are decided.
        </Text>
      ) : null}
      {pair === null ? null : <MergeDialog {...pair} onClose={() => setPair(null)} />}
    </>
  );
}

type ConflictRowProps = { conflict: CustomerConflict; onMerge: (keptId: string, mergedId: string) => void };

function ConflictRow({ conflict, onMerge }: ConflictRowProps) {
  const { order, buyer, customers } = conflict;
  const [first, second] = customers;
  const reported = [buyer.name, buyer.email, buyer.phone, buyer.external_id].filter((text) => text !== null).join(', ');
  return (
    <li>
      <div className="conflict-text">
        <Group gap={8}>
          <Anchor component={Link} to={paths.order(order.id)} fw={600} size="sm">
            {order.channel_order_id}
          </Anchor>
          {order.is_test ? <TestBadge /> : null}
          <Text size="xs" c="dimmed">
            {order.channel_name === null ? null : `${order.channel_name}, `}
            <Time at={order.created_at} />
          </Text>
        </Group>
        <Text size="sm">Reported: {reported}</Text>
        <Text size="sm" component="div">
          {customers.length === 1 ? 'Belongs to ' : 'Belong to '}
          {customers.map((customer, index) => (
            <span key={customer.id}>
              {index === 0 ? null : ' and '}
              <Anchor component={Link} to={paths.customer(customer.id)} inherit>
                {nameOf(customer)}
              </Anchor>
            </span>
          ))}
          {conflict.is_decided_by_merge ? null : ', whom the site calls by another id'}
        </Text>
      </div>
      <Group gap="xs" wrap="nowrap">
        <Button component={Link} to={paths.order(order.id)} variant="default" size="xs">
          Open order
        </Button>
        {first === undefined || second === undefined ? null : (
          <Button
            size="xs"
            variant="light"
            aria-label={`Merge the customers of ${order.channel_order_id}`}
            onClick={() => onMerge(first.id, second.id)}
          >
            Merge…
          </Button>
        )}
      </Group>
    </li>
  );
}
