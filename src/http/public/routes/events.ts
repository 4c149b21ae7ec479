import { ApiError } from '../../../contract/errors.ts';
import { EVENT_TYPES, type EventType } from '../../../contract/events.ts';
import type { OPERATIONS } from '../../../contract/operations.ts';
import { EVENT_LOG_MS, listEvents as findEvents, type LoggedEvent } from '../../../webhooks/event-log.ts';
import { reading } from '../database-faults.ts';
import type { Handler } from '../handler.ts';
import { listEnvelope, readListQuery } from '../list-query.ts';

const TYPES = Object.keys(EVENT_TYPES) as EventType[];

export const listEvents: Handler<typeof OPERATIONS.listEvents> = async ({
  context,
  integration,
  query,
  request,
  reply,
}) => {
  const { integrationId } = integration;
  const wanted = readListQuery({
    list: 'events',
    integrationId,
    cursors: context.cursors,
    limit: query.limit,
    after: query.after,
    since: { name: 'created_after', text: query.created_after },
    filter: { name: 'type', text: query.type, parse: parseTypes },
  });
  return await context.readCache.serve(request, reply, integration, async () => {
    const { limit, filter: types, since: createdAfter, before } = wanted;
    const now = new Date(integration.nowMs);
    const events = await reading(() =>
      findEvents(context.db, { integrationId, limit: limit + 1, types, createdAfter, before, now }),
    );
    const shown = events.slice(0, limit);
    const last = shown.at(-1);
    const hasMore = events.length > shown.length && last !== undefined;
    const cursor = hasMore ? wanted.cursorAfter({ id: last.id, atMs: last.createdAt.getTime() }) : null;
    const bodies = shown.map((event) => Buffer.from(event.body));
    return { body: listEnvelope(bodies, cursor), validUntilMs: endOf(events), isCurrent: true };
  });
};

/** An event is recorded under a stamp of the clock, so new ones move it; old ones leave when they are too old. */
function endOf(events: LoggedEvent[]): number | null {
  // The one beyond the page counts too: `has_more` tells of it.
  const oldest = events.at(-1);
  return oldest === undefined ? null : oldest.createdAt.getTime() + EVENT_LOG_MS;
}

/** Names and wildcards, as in a subscription. Each name once: a query has room for thousands of repetitions. */
export function parseTypes(text: string): string[] {
  const names = new Set(text.split(',').map((name) => name.trim()));
  for (const name of names) {
    if (name !== '*' && !TYPES.some((type) => isNamed(name, type))) {
      throw new ApiError('invalid_request', { param: 'type', message: `type: there is no event named ${name}.` });
    }
  }
  return TYPES.filter((type) => names.has('*') || names.has(type) || names.has(wildcardOf(type)));
}

function isNamed(name: string, type: EventType): boolean {
  return name === type || name === wildcardOf(type);
}

function wildcardOf(type: EventType): string {
  return `${type.split('.', 1)[0]}.*`;
}
