import { STREAMS_PER_DEALER_LIMIT, STREAMS_PER_PERSON_LIMIT } from '../../contract/dashboard/limits.ts';
import type { SignedIn } from './call.ts';
import { DashboardError } from './dashboard-error.ts';

/**
 * The open live streams of this process. A request looks at its session once, but a stream stays open for hours: so the
 * sessions of all streams are looked at every few seconds, in one statement, and at once when a team or an account changes. A
 * stream ends when its session has ended or its person has another role; a browser whose session is good opens it again.
 */
export type OpenStreams = {
  /** Counts a stream. Throws too_many_streams if the person or the dealer has too many. Returns what removes it. */
  add(user: SignedIn, end: () => void): () => void;
  /** Looks at the sessions now. */
  checkSessions(): Promise<void>;
  /**
   * Also ends streams that are added afterwards, whose requests were under way: an open stream would keep the server
   * from closing.
   */
  endAll(): void;
};

/** Finds the sessions that have not ended, by id. */
export type FindLiveSessions = (
  sessionIds: string[],
) => Promise<Pick<SignedIn, 'sessionId' | 'role' | 'organizationId'>[]>;

const CHECK_EVERY_MS = 3_000;

type Stream = { user: SignedIn; end: () => void };

export function createOpenStreams(findSessions: FindLiveSessions): OpenStreams {
  const streams = new Set<Stream>();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | null = null;
  let isAskedAgain = false;
  let hasEnded = false;

  function count(isSame: (user: SignedIn) => boolean): number {
    let found = 0;
    for (const { user } of streams) if (isSame(user)) found += 1;
    return found;
  }

  async function endStale(): Promise<void> {
    // Streams that were opened later have read their session later.
    const looked = [...streams];
    const ids = [...new Set(looked.map(({ user }) => user.sessionId))];
    const live = new Map((await findSessions(ids)).map((session) => [session.sessionId, session]));
    for (const { user, end } of looked) {
      const session = live.get(user.sessionId);
      if (session?.role !== user.role || session.organizationId !== user.organizationId) end();
    }
  }

  /**
   * If it is called while it runs, it runs once more: the change behind the call may have been committed after it has
   * read.
   */
  async function checkSessions(): Promise<void> {
    isAskedAgain = true;
    running ??= (async () => {
      while (isAskedAgain && streams.size > 0) {
        isAskedAgain = false;
        await endStale();
      }
    })()
      // While the database is away, streams stay; the next check decides.
      .catch(() => {})
      .finally(() => {
        running = null;
      });
    await running;
  }

  return {
    add(user, end) {
      const ofPerson = count(({ userId }) => userId === user.userId);
      const ofDealer = count(({ organizationId }) => organizationId === user.organizationId);
      if (ofPerson >= STREAMS_PER_PERSON_LIMIT || ofDealer >= STREAMS_PER_DEALER_LIMIT) {
        throw new DashboardError('too_many_streams', 'Too many open pages. Close some of them.');
      }
      const stream = { user, end };
      streams.add(stream);
      // The head is written first, so that the browser sees a stream that ended, and reconnects.
      if (hasEnded) setImmediate(end);
      timer ??= setInterval(checkSessions, CHECK_EVERY_MS).unref();
      return () => {
        streams.delete(stream);
        if (streams.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
    },
    checkSessions,
    endAll() {
      hasEnded = true;
      for (const { end } of streams) end();
    },
  };
}
