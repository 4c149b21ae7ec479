import Type from 'typebox';
import { EVENT_TYPES } from '../event-types.ts';
import { CURRENT_VERSION } from '../versions.ts';
import { TimestampOf, timestampExample } from './common.ts';

export const Event = Type.Object(
  {
    id: Type.String({ description: 'Unique, and the same whenever the event is sent again: de-duplicate on it.' }),
    object: Type.Literal('event'),
    type: Type.String({ enum: Object.keys(EVENT_TYPES), description: 'What happened.' }),
    api_version: Type.String({ description: 'The version the integration was pinned to then.' }),
    created_at: TimestampOf(
      'When it happened, by the clock that also stamps `updated_at`: what an event tells has the same time.',
    ),
    livemode: Type.Boolean({ description: 'False if it happened in test mode.' }),
    data: Type.Object(
      {
        object: Type.Record(Type.String(), Type.Unknown(), {
          description:
            'What it happened to. Of a listing or part only `id` and `object`, with `deleted: true` if it was deleted for ever and `quantity` on `part.in_stock`; an order is whole.',
        }),
        previous_attributes: Type.Optional(
          Type.Record(Type.String(), Type.Unknown(), {
            description:
              'On events that tell a change: the old values of fields that changed. Empty on `listing.updated` and `order.cancelled`, absent on events that are no change.',
          }),
        ),
      },
      { description: 'What the event is about.' },
    ),
  },
  { $id: 'Event', description: 'Something that happened on the dealer’s side; the same body that a webhook carries.' },
);

export const eventExample = {
  id: 'evt_01h455vb4pex5vsknk084sn02q',
  object: 'event',
  type: 'listing.updated',
  api_version: CURRENT_VERSION,
  created_at: timestampExample,
  livemode: true,
  data: { object: { id: 'lst_01h455vb4pex5vsknk084sn02q', object: 'listing' }, previous_attributes: {} },
};
