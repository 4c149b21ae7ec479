import Type, { type Static } from 'typebox';
import { AUDIT_ACTION_LABELS, type AuditAction } from '../../audit-actions.ts';
import { STRING_LENGTH_LIMIT, UNITS_LIMIT } from '../../limits.ts';
import { OneOf } from '../../resources/common.ts';
import { Order } from '../../resources/order.ts';
import { Count, listOf, listQuery } from '../list.ts';
import { operation } from '../operation.ts';
import { Attempt, NamedIntegration, nullable, oneOf } from '../schema-parts.ts';
import { Kind, StockStatus } from '../stock/stock.ts';
import {
  ORDER_TABS,
  type OrderTab,
  PERIODS,
  type Period,
  SUGGESTION_REASONS,
  TEST_DATA_LABELS,
  type TestData as TestDataChoice,
  UNMATCHED_REASON_LABELS,
  type UnmatchedReason,
} from './order-labels.ts';

const Id = Type.String({ maxLength: 50 });
const Time = Type.String({ format: 'date-time' });
const OptionalText = nullable(Type.String());

const TABS = Object.keys(ORDER_TABS) as OrderTab[];

export const TestData = oneOf(Object.keys(TEST_DATA_LABELS) as TestDataChoice[]);

/** The time range of a list: a period that ends now, or two ends. */
export const timeFilters = {
  period: Type.Optional(oneOf(Object.keys(PERIODS) as Period[])),
  from: Type.Optional(Time),
  to: Type.Optional(Time),
};

/** An item as the pages of orders and sales show it. */
export const ItemGlance = Type.Object(
  {
    id: Type.String(),
    kind: Kind,
    stock_number: Type.String(),
    title: Type.String(),
    reference: OptionalText,
    price_amount: nullable(Type.Integer(), 'Minor units of the dealer’s currency; null is price on request.'),
    available_units: Type.Integer({ description: 'That can be sold.' }),
    status: StockStatus,
    photo_url: OptionalText,
  },
  { $id: 'ItemGlance' },
);

/** A customer as a page names it. */
export const CustomerGlance = Type.Object(
  { id: Type.String(), name: OptionalText, email: OptionalText, phone: OptionalText },
  { $id: 'CustomerGlance' },
);

export const OrderRow = Type.Object(
  {
    id: Type.String(),
    channel_order_id: Type.String(),
    integration_id: Type.String(),
    status: OneOf('order_status', ''),
    is_test: Type.Boolean(),
    has_customer_conflict: Type.Boolean({ description: 'The reported buyer is several people.' }),
    customer_id: OptionalText,
    buyer: Type.Object({ name: OptionalText, email: OptionalText }, { description: 'As reported.' }),
    currency: Type.String(),
    total_amount: nullable(Type.Integer()),
    line_count: Type.Integer(),
    matched_count: Type.Integer(),
    lines: Type.Array(Type.Object({ title: OptionalText, quantity: Type.Integer(), item: nullable(ItemGlance) }), {
      description: 'The first few.',
    }),
    created_at: Time,
  },
  { $id: 'OrderRow' },
);

const PageLine = Type.Object({
  id: Type.String(),
  item: nullable(ItemGlance, 'What it is matched to or names; null if that is not in stock any more.'),
  unmatched: nullable(
    Type.Object({
      reason: oneOf(Object.keys(UNMATCHED_REASON_LABELS) as UnmatchedReason[]),
      available_units: Type.Integer(),
      held_by: Type.Array(Type.Object({ order_id: Type.String(), channel_order_id: Type.String() })),
      reserved_by: Type.Array(
        Type.Object({ reservation_id: Type.String(), reference: OptionalText, expires_at: Time }),
        { description: 'Reservations that hold its units for a checkout, those that end last first.' },
      ),
    }),
  ),
});

export const OrderPage = Type.Object(
  {
    order: Order,
    channel: Type.Object({ integration_id: Type.String(), name: OptionalText }),
    has_customer_conflict: Type.Boolean(),
    customer: nullable(CustomerGlance, 'Whose order it is.'),
    conflicting_customers: Type.Array(CustomerGlance, { description: 'Whom the reported buyer may be.' }),
    lines: Type.Array(PageLine, { description: 'In the order of the order’s lines.' }),
    request_id: OptionalText,
  },
  { $id: 'OrderPage' },
);
export type OrderPage = Static<typeof OrderPage>;

export const LineSuggestions = Type.Object(
  {
    line_id: Type.String(),
    suggestions: Type.Array(
      Type.Object({
        item: ItemGlance,
        reasons: Type.Array(oneOf(SUGGESTION_REASONS), { description: 'The strongest first.' }),
        price_difference_percent: nullable(
          Type.Number(),
          'Its price on the channel when the order came, also if it is not on the channel, against the price of the line.',
        ),
        is_on_channel: Type.Boolean(),
      }),
    ),
  },
  { $id: 'LineSuggestions' },
);

const Delivery = Type.Object({
  id: Type.String(),
  status: oneOf(['pending', 'failed', 'held', 'dead_letter', 'succeeded']),
  attempts: Type.Integer(),
  last_response_code: nullable(Type.Integer()),
  last_error: OptionalText,
  due_at: nullable(Time),
});

/** What happened to an order: an API request of its client, a change by a person, or an event that its client gets. */
export const TimelineEntry = Type.Union(
  [
    Type.Object({
      kind: Type.Literal('request'),
      at: Time,
      what: oneOf(['reported', 'cancelled']),
      request_id: nullable(Type.String(), 'Null for orders from before it was kept.'),
      reason: OptionalText,
    }),
    Type.Object({
      kind: Type.Literal('change'),
      at: Time,
      audit_id: Type.String(),
      action: Type.Unsafe<AuditAction>({ type: 'string', enum: Object.keys(AUDIT_ACTION_LABELS) }),
      actor: Type.String(),
      items: Type.Array(Type.Object({ id: Type.String(), name: OptionalText }), {
        description: 'Items that were matched to a line, or taken off one.',
      }),
      reason: OptionalText,
    }),
    Type.Object({
      kind: Type.Literal('event'),
      at: Time,
      event_id: Type.String(),
      type: Type.String(),
      is_suppressed: Type.Boolean(),
      delivery: nullable(Delivery, 'Null if nobody was to receive it.'),
    }),
  ],
  { $id: 'TimelineEntry' },
);
export type TimelineEntry = Static<typeof TimelineEntry>;

const OrderTimeline = Type.Object({
  entries: Type.Array(TimelineEntry),
  is_cut: Type.Boolean({
    description: 'The oldest entries are left out. The audit log and the list of events have them.',
  }),
});
export type OrderTimeline = Static<typeof OrderTimeline>;

const order = Type.Object({ order_id: Type.String() });
const filters = {
  tab: Type.Optional(oneOf(TABS)),
  integration_id: Type.Optional(Type.String({ maxLength: 50, description: 'Of this channel.' })),
  test: Type.Optional(TestData),
  conflict: Type.Optional(oneOf(['yes'], 'Whose reported buyer is several people.')),
  customer_id: Type.Optional(Type.String({ maxLength: 50, description: 'Of this customer.' })),
  ...timeFilters,
};

export const orderOperations = {
  listOrders: operation({
    method: 'GET',
    path: '/orders',
    access: 'staff',
    description:
      'Orders of all channels. `q` finds the client’s number, an id, the buyer, or what stock a line is matched to. Left out, `tab` is the queue.',
    query: listQuery(filters),
    response: listOf(OrderRow),
  }),
  exportOrders: operation({
    method: 'GET',
    path: '/orders/export.csv',
    access: 'staff',
    description:
      'Orders as CSV, newest first, with the filters of the list; at most 100,000 and 512 MB. Cells that a spreadsheet would run as formulas are text.',
    query: Type.Object({ q: Type.Optional(Type.String({ maxLength: 200 })), ...filters }),
    response: 'text/csv',
  }),
  getOrderChoices: operation({
    method: 'GET',
    path: '/orders/choices',
    access: 'staff',
    description: 'What the filters of the list offer, and how many orders each tab holds.',
    query: Type.Object({ q: Type.Optional(Type.String({ maxLength: 200 })), ...filters }),
    response: Type.Object({
      channels: Type.Array(NamedIntegration),
      tabs: Type.Record(Type.String(), Count),
    }),
  }),
  getOrder: operation({
    method: 'GET',
    path: '/orders/{order_id}',
    access: 'staff',
    description: 'An order as its client reads it, with its items and why lines are unmatched.',
    params: order,
    response: OrderPage,
  }),
  getOrderSuggestions: operation({
    method: 'GET',
    path: '/orders/{order_id}/suggestions',
    access: 'staff',
    description: 'Items that unmatched lines may be about, the likeliest first, with the reasons.',
    params: order,
    response: Type.Object({ lines: Type.Array(LineSuggestions) }),
  }),
  getOrderTimeline: operation({
    method: 'GET',
    path: '/orders/{order_id}/timeline',
    access: 'staff',
    description: 'What happened to an order, newest first: requests, changes, events and their deliveries.',
    params: order,
    response: OrderTimeline,
  }),
  matchOrderLine: operation({
    method: 'POST',
    path: '/orders/{order_id}/match',
    access: 'staff',
    overQuota: 'reserve',
    description:
      'Matches a line to an item and holds its units. With `line_id` null, a line is added for it; an order has at most 200.',
    params: order,
    body: Type.Object({
      line_id: nullable(Id),
      item_id: Id,
      units: Type.Optional(Type.Integer({ minimum: 1, maximum: UNITS_LIMIT, description: 'Of an added line.' })),
      attempt: Attempt,
    }),
    response: null,
  }),
  unmatchOrderLine: operation({
    method: 'POST',
    path: '/orders/{order_id}/unmatch',
    access: 'staff',
    overQuota: 'reserve',
    description: 'Takes the item off a line. Its units are free again.',
    params: order,
    body: Type.Object({ line_id: Id }),
    response: null,
  }),
  assignOrderCustomer: operation({
    method: 'PUT',
    path: '/orders/{order_id}/customer',
    access: 'staff',
    overQuota: 'reserve',
    description: 'Says whose order it is; null says nobody’s.',
    params: order,
    body: Type.Object({ customer_id: nullable(Id) }),
    response: null,
  }),
  confirmOrder: operation({
    method: 'POST',
    path: '/orders/{order_id}/confirm',
    access: 'staff',
    overQuota: 'served',
    description: 'Confirms the sale: what the order holds is sold. Other channels get events.',
    params: order,
    response: null,
  }),
  fulfilOrder: operation({
    method: 'POST',
    path: '/orders/{order_id}/fulfil',
    access: 'staff',
    overQuota: 'served',
    description: 'Marks the order as fulfilled. Its client gets `order.fulfilled`.',
    params: order,
    response: null,
  }),
  dismissOrder: operation({
    method: 'POST',
    path: '/orders/{order_id}/dismiss',
    access: 'staff',
    overQuota: 'served',
    description: 'Cancels the order and frees its stock. Its client gets `order.cancelled`.',
    params: order,
    body: Type.Object({ reason: nullable(Type.String({ maxLength: STRING_LENGTH_LIMIT })) }),
    response: null,
  }),
  cancelOrderSale: operation({
    method: 'POST',
    path: '/orders/{order_id}/cancel-sale',
    access: 'staff',
    overQuota: 'served',
    description: 'Cancels the sale: its stock is back, and the order returns to the queue.',
    params: order,
    response: null,
  }),
};
