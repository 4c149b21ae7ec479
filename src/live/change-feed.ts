import { randomBytes } from 'node:crypto';
import type { RepeatedTask } from '../concurrency/repeat.ts';
import type { ChangeKind, LiveChanges } from '../contract/dashboard/live.ts';
import type { Database } from '../db/database.ts';
import { listen, notify } from '../db/listen-notify.ts';

/**
 * Notifies open dashboards of what changed. Operations say kinds and ids after their commit; notices are collected
 * for 50 ms, handed to the subscribers in this process, and sent to the other nodes by a NOTIFY outside any
 * transaction. If a notice is lost, a page is a little old, but never wrong: pages read the database, not the feed.
 */
export type NotifyDashboards = (organizationId: string, kind: ChangeKind, ids: readonly string[] | null) => void;

export type FeedEvent = { id: string; changes: LiveChanges };
export type Subscriber = { onChanges(event: FeedEvent): void; onReload(id: string): void };

export type ChangeFeed = {
  notify: NotifyDashboards;
  /** Sends what was missed since the given event, or asks for a reload if that is not known any more. */
  subscribe(organizationId: string, lastEventId: string | null, subscriber: Subscriber): () => void;
  stop(): Promise<void>;
};

const CHANNEL = 'crownwheel_changes';
const FLUSH_EVERY_MS = 50;
/** More ids of one kind at once are "many": a page reads its list anew either way. */
const IDS_LIMIT = 100;
/** PostgreSQL refuses a payload of 8,000 bytes. */
const PAYLOAD_LIMIT_BYTES = 7_500;
/** What a tab that comes back can catch up on. */
const EVENTS_KEPT = 200;
/** Less than a stream may hold that its client has not read yet. */
const CAUGHT_UP_LIMIT_BYTES = 32_768;
const ORGANIZATIONS_KEPT = 1_000;

type PendingChanges = Map<ChangeKind, Set<string> | null>;
/** `since`: events up to this number may be missing. */
type Kept = { since: number; events: { number: number; event: FeedEvent }[] };
type Notice = { node: string; organization: string; changes: LiveChanges };

export function createChangeFeed(db: Database): ChangeFeed {
  const node = randomBytes(6).toString('hex');
  const pending = new Map<string, PendingChanges>();
  const subscribers = new Map<string, Set<Subscriber>>();
  const kept = new Map<string, Kept>();
  let lastNumber = 0;
  /** Set while a flush is planned or under way. */
  let flushTimer: NodeJS.Timeout | null = null;
  let isStopped = false;
  let listener: RepeatedTask | null = null;

  function addChange(organizationId: string, kind: ChangeKind, ids: readonly string[] | null): void {
    const changes = pending.get(organizationId) ?? new Map();
    pending.set(organizationId, changes);
    const known = changes.get(kind);
    if (ids === null || known === null) changes.set(kind, null);
    else {
      const all = new Set([...(known ?? []), ...ids]);
      changes.set(kind, all.size > IDS_LIMIT ? null : all);
    }
    flushTimer ??= setTimeout(flush, FLUSH_EVERY_MS).unref();
  }

  /** One statement carries the notices of all dealers; the next ones wait until it is answered. */
  async function flush(): Promise<void> {
    const notices: string[] = [];
    for (const [organization, found] of pending) {
      const changes = [...found].map(([kind, ids]) => ({ kind, ids: ids === null ? null : [...ids] }));
      deliver(organization, changes);
      notices.push(payloadOf({ node, organization, changes }));
    }
    pending.clear();
    await notify(db, CHANNEL, notices);
    flushTimer = pending.size === 0 || isStopped ? null : setTimeout(flush, FLUSH_EVERY_MS).unref();
  }

  function deliver(organizationId: string, changes: LiveChanges): void {
    lastNumber += 1;
    const event = { id: `${node}.${lastNumber}`, changes };
    const history = kept.get(organizationId);
    if (history !== undefined) {
      history.events.push({ number: lastNumber, event });
      const dropped = history.events.length > EVENTS_KEPT ? history.events.shift() : undefined;
      if (dropped !== undefined) history.since = dropped.number;
    }
    for (const subscriber of subscribers.get(organizationId) ?? []) subscriber.onChanges(event);
  }

  /** From the first subscriber on, and for some time after the last: the one used least lately goes first. */
  function historyOf(organizationId: string): Kept {
    const history = kept.get(organizationId) ?? { since: lastNumber, events: [] };
    kept.delete(organizationId);
    kept.set(organizationId, history);
    for (const id of kept.keys()) {
      if (kept.size <= ORGANIZATIONS_KEPT) break;
      kept.delete(id);
    }
    return history;
  }

  /** Null if they are not known any more, or so many that reading the pages anew is less. */
  function missedSince({ since, events }: Kept, lastEventId: string): FeedEvent[] | null {
    const [lastNode, seen] = lastEventId.split('.');
    if (lastNode !== node || Number(seen) < since) return null;
    const missed = events.filter(({ number }) => number > Number(seen)).map(({ event }) => event);
    return JSON.stringify(missed).length > CAUGHT_UP_LIMIT_BYTES ? null : missed;
  }

  function reloadAll(): void {
    for (const history of kept.values()) Object.assign(history, { since: lastNumber, events: [] });
    for (const each of subscribers.values()) {
      for (const subscriber of each) subscriber.onReload(`${node}.${lastNumber}`);
    }
  }

  /** Whatever came between two connections is unknown, so everybody reads anew. */
  function onListening(isFirstTry: boolean): void {
    if (!isFirstTry) reloadAll();
  }

  function onNotice(text: string): void {
    const notice = parseNotice(text);
    if (notice !== null && notice.node !== node) deliver(notice.organization, notice.changes);
  }

  return {
    notify: addChange,
    subscribe(organizationId, lastEventId, subscriber) {
      // Only who shows pages listens; a worker notifies and needs no connection for it.
      listener ??= listen(db, CHANNEL, { onNotice, onListening });
      const history = historyOf(organizationId);
      const all = subscribers.get(organizationId) ?? new Set();
      subscribers.set(organizationId, all.add(subscriber));
      if (lastEventId !== null) {
        const missed = missedSince(history, lastEventId);
        if (missed === null) subscriber.onReload(`${node}.${lastNumber}`);
        else for (const event of missed) subscriber.onChanges(event);
      }
      return () => {
        all.delete(subscriber);
        if (all.size === 0) subscribers.delete(organizationId);
      };
    },
    async stop() {
      isStopped = true;
      if (flushTimer !== null) clearTimeout(flushTimer);
      await listener?.stop();
    },
  };
}

/** If there are too many ids for one notice, it says "many" of each kind. */
function payloadOf(notice: Notice): string {
  const text = JSON.stringify(notice);
  if (Buffer.byteLength(text) <= PAYLOAD_LIMIT_BYTES) return text;
  return JSON.stringify({ ...notice, changes: notice.changes.map(({ kind }) => ({ kind, ids: null })) });
}

function parseNotice(text: string): Notice | null {
  try {
    return JSON.parse(text) as Notice;
  } catch {
    return null;
  }
}
