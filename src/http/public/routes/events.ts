import { rendererKey } from '../../../channel/projection/project-items.ts';
import { ApiError } from '../../../contract/errors.ts';
import { EVENT_TYPES, type EventType } from '../../../contract/event-types.ts';
import type { OPERATIONS } from '../../../contract/operations.ts';
import { shownText } from '../../../contract/shown-value.ts';
import type { Queryable } from '../../../db/database.ts';
import { assertPiece, firstPiece, type PageRest, PIECE_DOCUMENTS } from '../../../db/large-pages.ts';
import {
  EVENT_LOG_MS,
  listEvents as findEvents,
  type LoggedEvent,
  readEventPiece,
} from '../../../webhooks/event-log.ts';
import { reading } from '../database-faults.ts';
import type { Handler } from '../handler.ts';
import { listBody } from '../reads/list-body.ts';
import { readListQuery } from '../reads/list-query.ts';

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
  const { limit, filter: types, since: createdAfter, before, key } = wanted;
  return await context.readCache.serve({ request, reply, integration, key }, async () => {
    const now = new Date(integration.nowMs);
    const events = await reading(() =>
      findEvents(context.db, { integrationId, limit: limit + 1, types, createdAfter, before, now }),
    );
    const shown = events.slice(0, limit);
    const last = shown.at(-1);
    const hasMore = events.length > shown.length && last !== undefined;
    const nextCursor = hasMore ? wanted.cursorAfter({ id: last.id, atMs: last.createdAt.getTime() }) : null;
    const documents = firstPiece(shown.map((event) => bytesOf(event.body)));
    const rest = documents.length === shown.length ? null : restOf(context.db, integrationId, shown);
    const body = listBody({ documents, rest, nextCursor }, rendererKey(context.channel));
    return { ...body, validUntilMs: endOf(events), isCurrent: true };
  });
};

function restOf(db: Queryable, integrationId: string, events: LoggedEvent[]): PageRest {
  return {
    count: events.length,
    identity: events.map((event) => `${event.id} ${event.version}`),
    read: async (from) => {
      const ids = events.slice(from, from + PIECE_DOCUMENTS).map((event) => event.id);
      const byId = new Map((await readEventPiece(db, integrationId, ids)).map((event) => [event.id, event.body]));
      return assertPiece(ids.map((id) => bytesOf(byId.get(id))));
    },
  };
}

function bytesOf(text: string | null | undefined): Buffer | null {
  return text == null ? null : Buffer.from(text);
}

/** An event is recorded under a stamp of the clock, so new ones move it; old ones leave when they are too old. */
function endOf(events: LoggedEvent[]): number | null {
  // The one beyond the page counts too: `has_more` depends on it.
  const oldest = events.at(-1);
  return oldest === undefined ? null : oldest.createdAt.getTime() + EVENT_LOG_MS;
}

/** Names and wildcards, as in a subscription. Each name once: a query could repeat a name thousands of times. */
export function parseTypes(text: string): string[] {
  const names = new Set(text.split(',').map((name) => name.trim()));
  for (const name of names) {
    if (name !== '*' && !TYPES.some((type) => isNamed(name, type))) {
      throw new ApiError('invalid_request', {
        param: 'type',
        message: `type must be a comma-separated list of ${TYPES.join(', ')}, or of wildcards such as listing.*; it has ${shownText(name)}.`,
      });
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
