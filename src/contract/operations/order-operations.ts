import Type from 'typebox';
import { valuesOf } from '../enumerations.ts';
import { CHANNEL_ORDER_ID_LENGTH_LIMIT } from '../limits.ts';
import {
  afterParameter,
  ListOf,
  limitParameter,
  listExample,
  statusParameter,
  updatedAfterParameter,
} from '../resources/list.ts';
import { CancelInput, Order, OrderInput, orderExample, orderInputExample } from '../resources/order.ts';
import { type Operation, read, write } from './operation.ts';

const orderIdParameter = Type.Object({
  id: Type.String({ description: 'Id of the order.', examples: [orderExample.id] }),
});

export const orderOperations = {
  createOrder: write({
    id: 'createOrder',
    path: '/v1/orders',
    tag: 'Orders',
    summary: 'Report an order',
    description:
      'Reports an order that was taken on your site. Only `channel_order_id` is required. A live order takes its stock at once; a line whose item is unknown, taken or short of stock is stored with `match: null` and left to the dealer: a sale that happened is never refused.',
    cost: 2,
    body: OrderInput,
    bodyExample: orderInputExample,
    success: { status: 201, description: 'The order.', schema: Order, example: orderExample },
    errors: ['duplicate_channel_order_id', 'insert_failed'],
  }),
  listOrders: read({
    id: 'listOrders',
    path: '/v1/orders',
    tag: 'Orders',
    summary: 'List orders',
    description:
      'Newest change first, of every status unless `status` says otherwise. With `channel_order_id` it holds the order that you reported under this id, or nothing.',
    query: Type.Object({
      limit: limitParameter,
      after: afterParameter,
      updated_after: updatedAfterParameter,
      status: statusParameter(valuesOf('order_status'), 'every status'),
      channel_order_id: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: CHANNEL_ORDER_ID_LENGTH_LIMIT,
          description: 'Your own id of an order: the list holds that order, or nothing. Not together with `after`.',
          examples: [orderExample.channel_order_id],
        }),
      ),
    }),
    hasEtag: true,
    success: {
      status: 200,
      description: 'A page of orders.',
      schema: ListOf(Order, 'OrderList'),
      example: listExample(orderExample),
    },
    errors: ['invalid_cursor', 'query_failed'],
  }),
  getOrder: read({
    id: 'getOrder',
    path: '/v1/orders/{id}',
    tag: 'Orders',
    summary: 'Read an order',
    description: 'One order that this integration reported.',
    params: orderIdParameter,
    hasEtag: true,
    success: { status: 200, description: 'The order.', schema: Order, example: orderExample },
    errors: ['order_not_found', 'query_failed'],
  }),
  cancelOrder: write({
    id: 'cancelOrder',
    path: '/v1/orders/{id}/cancel',
    tag: 'Orders',
    summary: 'Cancel an order',
    description:
      'Cancels an order that the dealer has not matched to a completed sale, and gives its stock back. Cancelling it again changes nothing and answers the same. The body may be empty.',
    cost: 2,
    params: orderIdParameter,
    body: CancelInput,
    bodyExample: { reason: 'The customer changed her mind.' },
    isBodyOptional: true,
    success: {
      status: 200,
      description: 'The order.',
      schema: Order,
      example: {
        ...orderExample,
        status: 'cancelled',
        cancelled_at: orderExample.updated_at,
        cancellation: { by: 'api', reason: 'The customer changed her mind.' },
      },
    },
    errors: ['order_not_found', 'order_matched', 'cancel_failed'],
  }),
} as const satisfies Record<string, Operation>;
