import Type from 'typebox';
import { Nullable } from './common.ts';

export const PingInput = Type.Object({}, { $id: 'WebhookPingInput', description: 'Takes no fields.' });

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
