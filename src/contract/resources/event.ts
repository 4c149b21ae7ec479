import Type from 'typebox';
import { EVENT_TYPES } from '../events.ts';
import { CURRENT_VERSION } from '../versions.ts';
import { Timestamp, timestampExample } from './common.ts';

export const Event = Type.Object(
  {
    id: Type.String({ description: 'Unique; de-duplicate on it.' }),
    object: Type.Literal('event'),
    type: Type.String({ enum: Object.keys(EVENT_TYPES), description: 'What happened.' }),
    api_version: Type.String({ description: 'The version the integration was pinned to then.' }),
    created_at: Timestamp,
    livemode: Type.Boolean({ description: 'False if it happened in test mode.' }),
    data: Type.Object({
      object: Type.Record(Type.String(), Type.Unknown(), { description: 'The resource concerned.' }),
      previous_attributes: Type.Optional(
        Type.Record(Type.String(), Type.Unknown(), { description: 'Changed fields with their previous values.' }),
      ),
    }),
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
