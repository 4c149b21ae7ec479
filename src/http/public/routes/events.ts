import { ApiError } from '../../../contract/errors.ts';
import { EVENT_TYPES, type EventType } from '../../../contract/events.ts';
import type { OPERATIONS } from '../../../contract/operations.ts';
import { listEvents as findEvents } from '../../../webhooks/event-log.ts';
import { reading } from '../database-faults.ts';
import type { Handler } from '../handler.ts';
import { listEnvelope, readListQuery } from '../list-query.ts';

const TYPES = Object.keys(EVENT_TYPES) as EventType[];

export const listEvents: Handler<typeof OPERATIONS.listEvents> = async ({ context, integration, query, reply }) => {
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
  const events = await reading(() =>
    findEvents(context.db, {
      integrationId,
      limit: wanted.limit + 1,
      types: wanted.filter,
      createdAfter: wanted.since,
      before: wanted.before,
      now: new Date(integration.nowMs),
    }),
  );
  const shown = events.slice(0, wanted.limit);
  const last = shown.at(-1);
  const cursor =
    events.length > shown.length && last !== undefined
      ? wanted.cursorAfter({ id: last.id, atMs: last.createdAt.getTime() })
      : null;
  const bodies = shown.map((event) => Buffer.from(event.body));
  return await reply.type('application/json; charset=utf-8').send(listEnvelope(bodies, cursor));
};

/** Names and wildcards, as in a subscription. */
function parseTypes(text: string): string[] {
  const names = text.split(',').map((name) => name.trim());
  const types = TYPES.filter((type) => names.some((name) => isNamed(name, type)));
  const unknown = names.find((name) => !TYPES.some((type) => isNamed(name, type)));
  if (unknown !== undefined) {
    throw new ApiError('invalid_request', { param: 'type', message: `type: there is no event named ${unknown}.` });
  }
  return types;
}

function isNamed(name: string, type: EventType): boolean {
  return name === '*' || name === type || name === `${type.split('.', 1)[0]}.*`;
}
