import type { FastifyReply } from 'fastify';
import type { liveOperations } from '../../../contract/dashboard/live.ts';
import { listIntegrationsOf } from '../../../dealers/integrations/integration-list.ts';
import { countBadges } from '../badges.ts';
import type { Call, Handlers } from '../call.ts';
import { DashboardError } from '../dashboard-error.ts';

const HEARTBEAT_MS = 20_000;
/** How long a browser waits before it connects again, after we stopped or the line broke. */
const RETRY_MS = 2_000;
/** Each tab has one; a script that opens more and more is stopped. */
const STREAMS_PER_ORGANIZATION = 200;

/** Beyond what the operating system has taken. */
const UNREAD_LIMIT_BYTES = 64 * 1024;

const openStreams = new WeakMap<object, Map<string, Set<() => void>>>();

export const liveHandlers: Handlers<typeof liveOperations> = {
  async stream(call) {
    return openStream(call);
  },

  async getBadges({ context, user }) {
    const [counts, channels] = await Promise.all([
      countBadges(context.db, user.organizationId),
      listIntegrationsOf(context.db, user.organizationId),
    ]);
    const inTest = channels.filter(({ isEnabled, isTestMode }) => isEnabled && isTestMode);
    return { counts, test_channels: inTest.map(({ id, name }) => ({ id, name })) };
  },
};

/** Ends all streams: a server that is stopping would else wait for every open tab. */
export function endStreams(feed: object): void {
  for (const streams of openStreams.get(feed)?.values() ?? []) for (const end of streams) end();
}

function openStream({ context, user, request, reply }: Call<(typeof liveOperations)['stream']>): FastifyReply {
  const { feed } = context.dashboard;
  const streams = streamsOf(feed, user.organizationId);
  if (streams.size >= STREAMS_PER_ORGANIZATION) {
    throw new DashboardError('too_many_streams', 'Too many open pages. Close some of them.');
  }
  reply.hijack();
  const { raw } = reply;
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    // For proxies that would gather an answer before they pass it on.
    'x-accel-buffering': 'no',
  });
  raw.write(`retry: ${RETRY_MS}\n\n`);
  // A client that does not read would let its events pile up in memory. A browser comes back and resumes.
  const send = (text: string) => (raw.writableLength > UNREAD_LIMIT_BYTES ? raw.destroy() : raw.write(text));
  const heartbeat = setInterval(() => send(': heartbeat\n\n'), HEARTBEAT_MS);
  const last = request.headers['last-event-id'];
  const unsubscribe = feed.subscribe(user.organizationId, typeof last === 'string' && last !== '' ? last : null, {
    onChanges: ({ id, changes }) => send(`id: ${id}\nevent: changes\ndata: ${JSON.stringify(changes)}\n\n`),
    onReload: (id) => send(`id: ${id}\nevent: reload\ndata: {}\n\n`),
  });
  const end = () => raw.end();
  streams.add(end);
  raw.on('close', () => {
    clearInterval(heartbeat);
    unsubscribe();
    streams.delete(end);
  });
  return reply;
}

function streamsOf(feed: object, organizationId: string): Set<() => void> {
  const all = openStreams.get(feed) ?? new Map<string, Set<() => void>>();
  openStreams.set(feed, all);
  const streams = all.get(organizationId) ?? new Set();
  all.set(organizationId, streams);
  return streams;
}
