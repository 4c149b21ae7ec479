import { createIntegration } from '../../src/dealers/integrations/integrations.ts';
import { TESTER } from './actor.ts';
import type { ApiClient } from './http/api-client.ts';
import type { Dealer, World } from './world.ts';

/** A second channel of the same dealer. */
export type SecondChannel = { integrationId: string; api: ApiClient };

export async function secondChannel(world: World, dealer: Dealer): Promise<SecondChannel> {
  const { id, apiKey } = await createIntegration(world.db, TESTER, {
    organizationId: dealer.organizationId,
    userId: dealer.userId,
    name: 'Second website',
    currency: 'USD',
    isTestMode: false,
  });
  return { integrationId: id, api: world.client(apiKey) };
}

/** What a client could notice of something that was done: new events, and documents that came, changed or went. */
export type Observation = {
  /** Oldest first; those of one commit in the order of their names. */
  events: SeenEvent[];
  types: string[];
  changed: string[];
  gone: string[];
  /** What the client reads now, by id. */
  documents: Documents;
};

// biome-ignore lint/suspicious/noExplicitAny: a test asserts on whatever the server really sent.
export type Documents = Map<string, any>;
export type SeenEvent = {
  id: string;
  type: string;
  created_at: string;
  api_version: string;
  livemode: boolean;
  data: { object: Record<string, unknown>; previous_attributes?: Record<string, unknown> };
};

export async function observe(api: ApiClient, act: () => Promise<unknown>): Promise<Observation> {
  const [observation] = await observeAll([api], act);
  return observation;
}

/** The same for several clients at once, through the API alone. */
export async function observeAll<Apis extends ApiClient[]>(
  apis: [...Apis],
  act: () => Promise<unknown>,
): Promise<{ [Index in keyof Apis]: Observation }> {
  const before = await Promise.all(apis.map((api) => Promise.all([readDocuments(api), readEvents(api)])));
  await act();
  const observations = await Promise.all(
    apis.map(async (api, index) => {
      const [documentsBefore, eventsBefore] = before[index] ?? [new Map(), []];
      const known = new Set(eventsBefore.map((event) => event.id));
      const documents = await readDocuments(api);
      const events = (await readEvents(api)).filter((event) => !known.has(event.id));
      return {
        events,
        types: events.map((event) => event.type),
        changed: [...documents.keys()].filter(
          (id) => JSON.stringify(documents.get(id)) !== JSON.stringify(documentsBefore.get(id)),
        ),
        gone: [...documentsBefore.keys()].filter((id) => !documents.has(id)),
        documents,
      };
    }),
  );
  return observations as { [Index in keyof Apis]: Observation };
}

/** Everything that a client can read, of both kinds and every status. */
export async function readDocuments(api: ApiClient): Promise<Documents> {
  const lists = await Promise.all([
    readAll(api, '/v1/listings?status=any&limit=250'),
    readAll(api, '/v1/parts?status=any&limit=250'),
  ]);
  return new Map(lists.flat().map((document) => [document.id, document]));
}

export async function readEvents(api: ApiClient): Promise<SeenEvent[]> {
  const events: SeenEvent[] = await readAll(api, '/v1/events?limit=250');
  const key = (event: SeenEvent) => `${event.created_at} ${event.type} ${event.id}`;
  return events.sort((one, other) => (key(one) < key(other) ? -1 : 1));
}

// biome-ignore lint/suspicious/noExplicitAny: a test asserts on whatever the server really sent.
async function readAll(api: ApiClient, path: string): Promise<any[]> {
  // biome-ignore lint/suspicious/noExplicitAny: see above.
  const rows: any[] = [];
  let cursor: string | null = null;
  do {
    const { status, body } = await api.get(cursor === null ? path : `${path}&after=${cursor}`);
    if (status !== 200) throw new Error(`${path} answers ${status} ${JSON.stringify(body)}`);
    rows.push(...body.data);
    cursor = body.next_cursor;
  } while (cursor !== null);
  return rows;
}
