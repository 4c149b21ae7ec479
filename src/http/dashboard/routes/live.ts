import type { FastifyReply } from 'fastify';
import type { ChangeKind, liveOperations } from '../../../contract/dashboard/live.ts';
import { listIntegrationsOf } from '../../../dealers/integrations/integration-list.ts';
import { countBadges } from '../../../notifications/count-attention.ts';
import { onceClosed } from '../../connection/once-closed.ts';
import type { Call, Handlers } from '../call.ts';

const HEARTBEAT_MS = 20_000;
/** How long a browser waits before it connects again, after we stopped or the line broke. */
const RETRY_MS = 2_000;
/** How much may wait in memory, besides what the operating system has taken. */
const UNREAD_LIMIT_BYTES = 64 * 1024;

/** After a change of these kinds, the person may have another role. */
const CHECKED_KINDS: readonly ChangeKind[] = ['team', 'account'];

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

function openStream({ context, user, request, reply }: Call<(typeof liveOperations)['stream']>): FastifyReply {
  const { streams, dashboard } = context;
  const { raw } = reply;
  // If the client disconnected while the session was looked up, no event tells us any more, and nothing would ever end
  // the stream.
  if (raw.destroyed) return reply.hijack();
  const remove = streams.add(user, () => raw.end());
  reply.hijack();
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    // The connection is not used again after the stream. A server that stops would wait for it.
    connection: 'close',
    // For proxies that would buffer an answer before they pass it on.
    'x-accel-buffering': 'no',
  });
  raw.write(`retry: ${RETRY_MS}\n\n`);
  // The events of a client that does not read would pile up in memory. A browser reconnects and goes on.
  const send = (text: string) => (raw.writableLength > UNREAD_LIMIT_BYTES ? raw.destroy() : raw.write(text));
  const heartbeat = setInterval(() => send(': heartbeat\n\n'), HEARTBEAT_MS);
  const last = request.headers['last-event-id'];
  const unsubscribe = dashboard.feed.subscribe(
    user.organizationId,
    typeof last === 'string' && last !== '' ? last : null,
    {
      onChanges({ id, changes }) {
        send(`id: ${id}\nevent: changes\ndata: ${JSON.stringify(changes)}\n\n`);
        if (changes.some(({ kind }) => CHECKED_KINDS.includes(kind))) void streams.checkSessions();
      },
      onReload: (id) => send(`id: ${id}\nevent: reload\ndata: {}\n\n`),
    },
  );
  onceClosed(raw, () => {
    clearInterval(heartbeat);
    unsubscribe();
    remove();
  });
  return reply;
}
