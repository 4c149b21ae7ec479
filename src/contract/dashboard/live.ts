import Type from 'typebox';
import { operation } from './operation.ts';

/** The media type of server-sent events. */
export const LIVE_STREAM_TYPE = 'text/event-stream';

/**
 * The kinds of objects whose changes the live stream announces. The ids say which objects changed; null means "many,
 * read again". A page names the kinds that it shows (see dashboard/src/api/live.ts).
 */
const CHANGE_KINDS = [
  'account',
  'team',
  'organization',
  'location',
  'item',
  'order',
  'sale',
  'customer',
  'integration',
  'delivery',
  'event',
  'request',
  'job',
  'audit',
  'view',
] as const;
export type ChangeKind = (typeof CHANGE_KINDS)[number];

/** The data of one server-sent event named `changes`. An event named `reload` says that changes were missed. */
export type LiveChanges = { kind: ChangeKind; ids: string[] | null }[];

export const liveOperations = {
  stream: operation({
    method: 'GET',
    path: '/stream',
    access: 'staff',
    description:
      'Server-sent events: `changes` with kinds and ids of what changed for this dealer, `reload` when some were missed. Resumes with Last-Event-ID.',
    response: LIVE_STREAM_TYPE,
  }),
  getBadges: operation({
    method: 'GET',
    path: '/badges',
    access: 'staff',
    description: 'What needs attention, counted for each entry of the navigation, and which channels are in test mode.',
    response: Type.Object({
      counts: Type.Record(Type.String(), Type.Integer()),
      test_channels: Type.Array(Type.Object({ id: Type.String(), name: Type.String() }), {
        description: 'Enabled integrations in test mode.',
      }),
    }),
  }),
};
