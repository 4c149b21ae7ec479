import { TEST_EVENT } from '../contract/event-types.ts';
import type { Transaction } from '../db/database.ts';
import { readEndpoint } from '../webhooks/endpoints/read-endpoint.ts';
import { openOutbox, type RecordedEvent } from '../webhooks/outbox.ts';
import type { ChannelContext } from './context.ts';
import { projectItems } from './projection/project-items.ts';

/** Records test events, and a delivery of each if the endpoint takes any now. */
export async function recordPings(
  tx: Transaction,
  context: ChannelContext,
  integrationId: string,
  count: number,
): Promise<RecordedEvent[]> {
  const { stamps, endpoints } = await projectItems(tx, context, {
    itemIds: [],
    integrationIds: [integrationId],
    stampAlso: [integrationId],
  });
  const endpoint = endpoints.get(integrationId) ?? (await readEndpoint(tx, integrationId));
  const createdAt = stamps.get(integrationId);
  if (endpoint === null || createdAt === undefined) throw new Error(`integration ${integrationId} is gone`);
  const outbox = openOutbox();
  const recorded = Array.from({ length: count }, () =>
    // A test that would only be held until later tests nothing: while webhooks are off it is recorded and not enqueued.
    outbox.add(endpoint.isSending ? endpoint : { ...endpoint, url: null }, {
      type: TEST_EVENT,
      object: { id: integrationId, object: 'integration', message: 'This is a test event from Crownwheel.' },
      previous: undefined,
      createdAt,
      isSuppressed: false,
    }),
  );
  await outbox.write(tx);
  return recorded;
}
