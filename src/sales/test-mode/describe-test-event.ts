import type { ChannelContext } from '../../channel/context.ts';
import { withStamp } from '../../channel/projection/documents.ts';
import { findDocument } from '../../channel/reads/document-rows.ts';
import { pingOf, type TestEvent } from '../../channel/record-test-events.ts';
import type { EventType } from '../../contract/event-types.ts';
import { isId } from '../../contract/ids.ts';
import { type Order, orderExample } from '../../contract/resources/order.ts';
import type { Transaction } from '../../db/database.ts';
import { newId } from '../../ids/new-id.ts';
import type { Endpoint } from '../../webhooks/outbox.ts';
import { presentOrder } from '../orders/change-order.ts';
import { findOrder } from '../orders/read-orders.ts';

/** An event that a client asks for while it tests: its type, and what it is about. Null makes something up. */
export type TestEventRequest = { type: EventType; objectId: string | null };
export type TestEventContext = {
  context: ChannelContext;
  endpoint: Endpoint;
  organizationId: string;
  createdAt: Date;
};

/** What a type of event is about. */
export function subjectOf(type: EventType): 'listing' | 'part' | 'order' | 'integration' {
  return type.slice(0, type.indexOf('.')) as 'listing' | 'part' | 'order' | 'integration';
}

/** The event as the real one would be; null if the client can't read what it is about. Nothing else happens. */
export async function describeTestEvent(
  tx: Transaction,
  testContext: TestEventContext,
  { type, objectId }: TestEventRequest,
): Promise<TestEvent | null> {
  const kind = subjectOf(type);
  if (kind === 'integration') return pingOf(testContext.endpoint.integrationId);
  if (objectId !== null && !isId(kind, objectId)) return null;
  if (kind === 'order') return await orderEvent(tx, testContext, type, objectId);
  return await itemEvent(tx, testContext, type, kind, objectId);
}

/** A part that was made up has so many units. */
const MADE_UP_QUANTITY = 4;

async function itemEvent(
  tx: Transaction,
  { endpoint: { integrationId, apiVersion } }: TestEventContext,
  type: EventType,
  kind: 'listing' | 'part',
  objectId: string | null,
): Promise<TestEvent | null> {
  const scope = { integrationId, apiVersion, kind };
  const document = objectId === null ? null : await findDocument(tx, scope, objectId);
  if (objectId !== null && document === null) return null;
  const object = { id: objectId ?? newId(kind), object: kind };
  switch (type) {
    case 'listing.updated':
      return { type, object, previous: {} };
    case 'part.updated':
      return { type, object, previous: { title: 'The title before this one' } };
    case 'part.in_stock': {
      const { quantity } =
        document === null ? { quantity: MADE_UP_QUANTITY } : (JSON.parse(document) as { quantity: number });
      // This event says that units remain.
      const remaining = Math.max(quantity, 1);
      return { type, object: { ...object, quantity: remaining }, previous: { quantity: remaining + 1 } };
    }
    default:
      return { type, object, previous: undefined };
  }
}

async function orderEvent(
  tx: Transaction,
  { context, endpoint, organizationId, createdAt }: TestEventContext,
  type: EventType,
  objectId: string | null,
): Promise<TestEvent | null> {
  const { integrationId, apiVersion } = endpoint;
  const document = objectId === null ? null : await findOrder(tx, { integrationId, organizationId }, objectId);
  if (objectId !== null && document === null) return null;
  const { updated_at: _, ...order } = document === null ? madeUpOrder(createdAt) : (JSON.parse(document) as Order);
  const at = createdAt.toISOString();
  const isFulfilled = type === 'order.fulfilled';
  const changed: Omit<Order, 'updated_at'> = {
    ...order,
    status: isFulfilled ? 'fulfilled' : 'cancelled',
    fulfilled_at: isFulfilled ? at : null,
    cancelled_at: isFulfilled ? null : at,
    cancellation: isFulfilled ? null : { by: 'dealer', reason: null },
  };
  const json = presentOrder(context, apiVersion, withStamp(JSON.stringify(changed), createdAt));
  return { type, object: { json }, previous: isFulfilled ? { status: 'matched' } : {} };
}

function madeUpOrder(createdAt: Date): Order {
  const listingId = newId('listing');
  const at = createdAt.toISOString();
  return {
    ...orderExample,
    id: newId('order'),
    is_test: true,
    customer_id: newId('customer'),
    lines: orderExample.lines.map((line) => ({
      ...line,
      id: newId('orderLine'),
      listing_id: listingId,
      match: { object: 'listing', id: listingId, remaining_quantity: 0 },
    })),
    created_at: at,
    updated_at: at,
  };
}
