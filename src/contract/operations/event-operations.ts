import Type from 'typebox';
import { EVENT_TYPES } from '../event-types.ts';
import { EVENT_LOG_DAYS } from '../limits.ts';
import { Event, eventExample } from '../resources/event.ts';
import { afterParameter, ListOf, limitParameter, listExample } from '../resources/list.ts';
import { type Operation, read } from './operation.ts';

export const eventOperations = {
  listEvents: read({
    id: 'listEvents',
    path: '/v1/events',
    tag: 'Events',
    summary: 'List events',
    description: `The events of the last ${EVENT_LOG_DAYS} days, newest first, whether or not a webhook carried them. Removals (a part off the channel, a deleted item) are learnt here: a lossless sync reads this list and the lists with \`updated_after\`; after more than ${EVENT_LOG_DAYS} days away it lists anew.`,
    query: Type.Object({
      limit: limitParameter,
      after: afterParameter,
      created_after: Type.Optional(
        Type.String({
          description: 'ISO 8601 time with any offset, or a plain date. Keeps events whose `created_at` is later.',
          examples: ['2026-05-08T09:00:00.123Z'],
        }),
      ),
      type: Type.Optional(
        Type.String({
          description: `A comma-separated list of event names or wildcards such as \`listing.*\`: ${Object.keys(EVENT_TYPES).join(', ')}.`,
          examples: ['part.*,listing.unpublished'],
        }),
      ),
    }),
    hasEtag: true,
    success: {
      status: 200,
      description: 'A page of events.',
      schema: ListOf(Event, 'EventList'),
      example: listExample(eventExample),
    },
    errors: ['invalid_cursor', 'query_failed'],
  }),
} as const satisfies Record<string, Operation>;
