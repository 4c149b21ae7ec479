import type { Actor } from '../../audit/actor.ts';
import { recordAudit } from '../../audit/record-audit.ts';
import { lockClocks } from '../../channel/clock.ts';
import { commitAndWake } from '../../channel/commit-and-wake.ts';
import type { ChannelContext } from '../../channel/context.ts';
import { recordPings } from '../../channel/record-test-events.ts';
import type { RecordedEvent } from '../../webhooks/outbox.ts';
import { assertIntegrationOf } from './attach-integration.ts';

/** The dealer's own ping: a test event on its way to the endpoint. Without a delivery while webhooks are off. */
export async function sendDealerPing(
  context: ChannelContext,
  actor: Actor,
  organizationId: string,
  integrationId: string,
): Promise<RecordedEvent> {
  const { event } = await commitAndWake(context, async (tx) => {
    await lockClocks(tx, [integrationId]);
    await assertIntegrationOf(tx, integrationId, organizationId);
    const [event] = await recordPings(tx, context, integrationId, 1);
    if (event === undefined) throw new Error('a ping is recorded as one event');
    await recordAudit(tx, actor, {
      organizationId,
      action: 'webhooks.test_event_sent',
      object: { kind: 'integration', id: integrationId },
      new: { eventId: event.id },
      at: context.now(),
    });
    return { event, touched: [integrationId] };
  });
  return event;
}
