import { type EventType, TEST_EVENT } from '../contract/event-types.ts';
import type { Transaction } from '../db/database.ts';
import { readEndpoint } from '../webhooks/endpoints/read-endpoint.ts';
import { type Endpoint, type OutgoingEvent, openOutbox, type RecordedEvent } from '../webhooks/outbox.ts';
import { lockClocks } from './clock.ts';
import type { ChannelContext } from './context.ts';
import { projectItems, readSources, type SourceRows } from './projection/project-items.ts';

/** An event that is sent for a test, whatever its endpoint is subscribed to. */
export type TestEvent = { type: EventType } & Pick<OutgoingEvent, 'object' | 'previous'>;
/** Describes the events once their time and their endpoint are known; null where there is nothing to send. */
export type DescribeTestEvents = (endpoint: Endpoint, createdAt: Date) => Promise<(TestEvent | null)[]>;

/** The lock of an integration's clock, and what was read behind it. */
export type PreparedTestEvents = { clocks: Map<string, Date>; sources: SourceRows };

/** What every test event needs, in one round trip: a caller may send it together with other statements. */
export async function prepareTestEvents(
  tx: Transaction,
  context: ChannelContext,
  integrationId: string,
): Promise<PreparedTestEvents> {
  const [clocks, sources] = await Promise.all([
    lockClocks(tx, [integrationId]),
    readSources(tx, context, [integrationId], []),
  ]);
  return { clocks, sources };
}

/** Records test events, and a delivery of each if the endpoint takes any now. */
export async function recordPings(
  tx: Transaction,
  context: ChannelContext,
  integrationId: string,
  count: number,
  prepared?: PreparedTestEvents,
): Promise<RecordedEvent[]> {
  const pings = Array.from({ length: count }, () => pingOf(integrationId));
  const recorded = await recordTestEvents(tx, context, integrationId, async () => pings, prepared);
  return recorded.filter((event) => event !== null);
}

/** The event of a plain ping. */
export function pingOf(integrationId: string): TestEvent {
  const message = 'This is a test event from Crownwheel.';
  return { type: TEST_EVENT, object: { id: integrationId, object: 'integration', message }, previous: undefined };
}

export async function recordTestEvents(
  tx: Transaction,
  context: ChannelContext,
  integrationId: string,
  describe: DescribeTestEvents,
  prepared?: PreparedTestEvents,
): Promise<(RecordedEvent | null)[]> {
  const { clocks, sources } = prepared ?? (await prepareTestEvents(tx, context, integrationId));
  const { stamps, endpoints } = await projectItems(tx, context, {
    itemIds: [],
    integrationIds: [integrationId],
    stampAlso: [integrationId],
    clocks,
    sources,
  });
  const endpoint = endpoints.get(integrationId) ?? (await readEndpoint(tx, integrationId));
  const createdAt = stamps.get(integrationId);
  if (endpoint === null || createdAt === undefined) throw new Error(`integration ${integrationId} is gone`);
  // A test that would only be held until later tests nothing: while webhooks are off it is recorded and not enqueued.
  const url = endpoint.isSending ? endpoint.url : null;
  const outbox = openOutbox();
  const recorded = (await describe(endpoint, createdAt)).map((event) => {
    if (event === null) return null;
    // Only a ping may be of live mode; any other event that is sent for a test did not happen.
    const isTestMode = endpoint.isTestMode || event.type !== TEST_EVENT;
    return outbox.add(
      { ...endpoint, url, isTestMode, subscriptions: ['*'] },
      { ...event, createdAt, isSuppressed: false },
    );
  });
  outbox.write(tx);
  return recorded;
}
