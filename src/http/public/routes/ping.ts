import { recordPing } from '../../../channel/ping.ts';
import type { OPERATIONS } from '../../../contract/operations.ts';
import type { Handler } from '../handler.ts';
import { writeOnce } from '../writes/execute-write.ts';

export const pingWebhook: Handler<typeof OPERATIONS.pingWebhook> = async (call) => {
  const { context, integration } = call;
  const turn = `clock ${integration.integrationId}`;
  const reply = await writeOnce(call, { failure: 'insert_failed', turn }, async (tx) => {
    const { id, deliveryId } = await recordPing(tx, context.channel, integration.integrationId);
    const body = { object: 'webhook_ping', delivery_id: deliveryId, event_id: id, enqueued: deliveryId !== null };
    return { status: 200, body: JSON.stringify(body), isTest: integration.isTestMode };
  });
  context.channel.onEvents([integration.integrationId]);
  return reply;
};
