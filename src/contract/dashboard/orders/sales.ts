import Type, { type Static } from 'typebox';
import { AMOUNT_LIMIT, UNITS_LIMIT } from '../../limits.ts';
import { Count, listOf, listQuery } from '../list.ts';
import { operation } from '../operation.ts';
import { Attempt, nullable, oneOf } from '../schema-parts.ts';
import { Money } from '../stock/stock.ts';
import { SALE_TABS, type SaleTab } from './order-labels.ts';
import { CustomerGlance, TestData, timeFilters } from './orders.ts';

const Id = Type.String({ maxLength: 50 });
const Time = Type.String({ format: 'date-time' });
const Amount = Type.Integer({ minimum: 0, maximum: AMOUNT_LIMIT });

const TABS = Object.keys(SALE_TABS) as SaleTab[];

export const SaleRow = Type.Object(
  {
    id: Type.String(),
    item_id: nullable(Type.String(), 'Null if the item was deleted since.'),
    title: Type.String(),
    stock_number: Type.String(),
    photo_url: nullable(Type.String()),
    units: Type.Integer(),
    status: oneOf(['completed', 'voided']),
    is_test: Type.Boolean(),
    price: nullable(Money, 'For all units together; null if nobody said.'),
    currency: Type.String({
      description: 'Of its price, also before there is one: that of its order, or of the business then.',
    }),
    channel: Type.String({ description: 'An integration’s id, or `counter`.' }),
    channel_name: nullable(Type.String(), 'Null if the integration was deleted since.'),
    order: nullable(
      Type.Object({
        id: Type.String(),
        channel_order_id: nullable(Type.String(), 'Null if the order was deleted since.'),
      }),
    ),
    buyer: nullable(Type.Object({ name: nullable(Type.String()), customer_id: nullable(Type.String()) })),
    created_at: Time,
    voided_at: nullable(Time),
  },
  { $id: 'SaleRow' },
);
export type SaleRow = Static<typeof SaleRow>;

const filters = {
  tab: Type.Optional(oneOf(TABS)),
  channel: Type.Optional(Type.String({ maxLength: 50, description: 'An integration, or `counter`.' })),
  test: Type.Optional(TestData),
  ...timeFilters,
};

export const saleOperations = {
  listSales: operation({
    method: 'GET',
    path: '/sales',
    access: 'staff',
    description: 'What was sold, newest first. `q` finds a title, a stock number, or the id of a sale or an order.',
    query: listQuery(filters),
    response: listOf(SaleRow),
  }),
  exportSales: operation({
    method: 'GET',
    path: '/sales/export.csv',
    access: 'staff',
    description:
      'Sales as CSV, newest first, with the filters of the list; at most 100,000 and 512 MB. Cells that a spreadsheet would run as formulas are text.',
    query: Type.Object({ q: Type.Optional(Type.String({ maxLength: 200 })), ...filters }),
    response: 'text/csv',
  }),
  getSaleChoices: operation({
    method: 'GET',
    path: '/sales/choices',
    access: 'staff',
    description: 'What the filters of the list offer, how many sales each tab holds, and what they come to.',
    query: Type.Object({ q: Type.Optional(Type.String({ maxLength: 200 })), ...filters }),
    response: Type.Object({
      channels: Type.Array(Type.Object({ channel: Type.String(), name: Type.String() })),
      tabs: Type.Record(Type.String(), Count),
      totals: nullable(
        Type.Array(Money),
        'Of the completed sales that match, by currency; null if they are too many to add up.',
      ),
      unpriced: nullable(Type.Integer(), 'Completed sales that match and have no amount; null as `totals`.'),
    }),
  }),
  recordSale: operation({
    method: 'POST',
    path: '/sales',
    access: 'staff',
    overQuota: 'reserve',
    description: 'Records a sale over the counter. Channels that show the item get events.',
    body: Type.Object({
      item_id: Id,
      units: Type.Integer({ minimum: 1, maximum: UNITS_LIMIT }),
      amount: nullable(Amount, 'For all units together, in minor units of the dealer’s currency.'),
      customer_id: nullable(Id),
      releases_reservations: Type.Optional(
        Type.Boolean({ description: 'If too few units are free, reservations of sites are released for the sale.' }),
      ),
      attempt: Attempt,
    }),
    response: Type.Object({ id: Type.String() }),
  }),
  changeSale: operation({
    method: 'PATCH',
    path: '/sales/{sale_id}',
    access: 'staff',
    overQuota: 'reserve',
    description: 'Corrects what a sale brought, or who bought it. Nothing that a client reads changes.',
    params: Type.Object({ sale_id: Type.String() }),
    body: Type.Object({ amount: Type.Optional(nullable(Amount)), customer_id: Type.Optional(nullable(Id)) }),
    response: null,
  }),
  voidSale: operation({
    method: 'POST',
    path: '/sales/{sale_id}/void',
    access: 'staff',
    overQuota: 'served',
    description: 'Voids a sale: its units are back in stock. An order’s sale takes the order back to the queue.',
    params: Type.Object({ sale_id: Type.String() }),
    response: null,
  }),
  searchCustomers: operation({
    method: 'GET',
    path: '/customer-choices',
    access: 'staff',
    description: 'Customers whose name, company, email or phone begins with `q`, or the newest, for a choice.',
    query: Type.Object({ q: Type.Optional(Type.String({ maxLength: 200 })), is_test: Type.Optional(oneOf(['yes'])) }),
    response: Type.Object({ data: Type.Array(CustomerGlance) }),
  }),
};
