import Type from 'typebox';
import { EVENT_TYPES } from '../event-types.ts';
import { NOT_ANNOTATION } from '../openapi/openapi-schemas.ts';
import { Nullable } from './common.ts';
import { optionalText } from './customer.ts';

export const PingInput = Type.Object(
  {
    type: optionalText(
      `The event to send instead of the test event, as the real one would be: ${Object.keys(EVENT_TYPES).join(', ')}. Only in test mode.`,
    ),
    object_id: optionalText(
      'Id of the listing, part or order that the event is about. If it is left out, one is made up. Only with `type`.',
    ),
  },
  {
    $id: 'WebhookPingInput',
    description: 'Without fields a plain test event is sent.',
    // An object of no event.
    [NOT_ANNOTATION]: {
      required: ['object_id'],
      properties: { type: { enum: [null, ''] }, object_id: { type: 'string', minLength: 1 } },
    },
  },
);

export const Ping = Type.Object(
  {
    object: Type.Literal('webhook_ping'),
    delivery_id: Nullable(Type.String(), 'The delivery; null if nothing was enqueued.'),
    event_id: Type.String({ description: 'The event, which is also in the list of events.' }),
    enqueued: Type.Boolean({ description: 'False with no URL, or with webhooks off.' }),
  },
  { $id: 'WebhookPing', description: 'What a test webhook set off.' },
);

export const pingExample = {
  object: 'webhook_ping',
  delivery_id: 'dlv_01h455vb4pex5vsknk084sn02q',
  event_id: 'evt_01h455vb4pex5vsknk084sn02q',
  enqueued: true,
};
