import { recordPings } from '../../../channel/ping.ts';
import type { OPERATIONS } from '../../../contract/operations.ts';
import type { Handler } from '../handler.ts';
import { answerWrite } from '../writes/answer-write.ts';
import type { WriteKind } from '../writes/write-kind.ts';

const ping: WriteKind<null> = {
  failureCode: 'ping_failed',
  lockOf: ({ integrationId }) => `clock ${integrationId}`,
  batchLimit: 100,
  transaction: { planning: 'once' },
  async work(tx, channel, items) {
    const [{ integration }] = items;
    const events = await recordPings(tx, channel, integration.integrationId, items.length);
    const results = events.map(({ id, deliveryId }) => {
      const body = { object: 'webhook_ping', delivery_id: deliveryId, event_id: id, enqueued: deliveryId !== null };
      return { status: 200, body: JSON.stringify(body), isTest: integration.isTestMode };
    });
    return { results, touched: [integration.integrationId] };
  },
};

export const pingWebhook: Handler<typeof OPERATIONS.pingWebhook> = (call) => answerWrite(call, ping, null);
