import Type from 'typebox';
import { DEFAULT_HOME_RANGE, HOME_RANGE_NAMES, type HomeRange } from './home-ranges.ts';
import { operation } from './operation.ts';

const Counts = (description: string) => Type.Array(Type.Integer(), { description });

export const homeOperations = {
  getActivity: operation({
    method: 'GET',
    path: '/activity',
    access: 'staff',
    description:
      'What happened in each of the last hours or days, counted as it happened. Days begin at midnight of the dealer’s time zone. Test orders are not counted.',
    query: Type.Object({
      range: Type.Optional(
        Type.Unsafe<HomeRange>({ type: 'string', enum: [...HOME_RANGE_NAMES], default: DEFAULT_HOME_RANGE }),
      ),
      integration_id: Type.Optional(
        Type.String({ maxLength: 50, description: 'Counts one integration alone. Sales are those of all channels.' }),
      ),
    }),
    response: Type.Object({
      time_zone: Type.String(),
      starts: Type.Array(Type.String({ format: 'date-time' }), {
        description: 'When each hour or day begins. The last one is under way. All other arrays have as many values.',
      }),
      orders: Counts('Orders that integrations reported.'),
      sales: Counts('Sales that are not voided, on the day on which they were made.'),
      amounts: Type.Array(Type.Object({ currency: Type.String(), values: Counts('In minor units.') }), {
        description: 'What these sales brought, by currency. The currency with the most sales comes first.',
      }),
      attempts_succeeded: Counts('Attempts to deliver a webhook that succeeded.'),
      attempts_failed: Counts('Attempts that failed. A delivery may fail several times.'),
      dead_letters: Counts('Deliveries that were given up after their last attempt.'),
      requests: Counts('API requests.'),
      request_errors: Counts('Those of them that were answered by an error.'),
    }),
  }),
  getStockValue: operation({
    method: 'GET',
    path: '/stock-value',
    access: 'staff',
    description: 'What is in stock, by its age, at the dealer’s own prices. It may be a minute old.',
    response: Type.Object({
      currency: Type.String(),
      ages: Type.Array(
        Type.Object({
          from_days: Type.Integer(),
          items: Type.Integer(),
          amount: Type.Integer({ description: 'Of all units, in minor units.' }),
          unpriced: Type.Integer({ description: 'Items without a price; the amount does not have them.' }),
        }),
      ),
    }),
  }),
};
