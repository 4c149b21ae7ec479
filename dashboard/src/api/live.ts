import { useEffect, useState } from 'react';
import type { ChangeKind, LiveChanges } from '../../../src/contract/dashboard/live.ts';
import { apiUrl } from './client.ts';
import { queryClient, refresh } from './queries.ts';

/** A busy shop changes all the time; a page reads its lists anew at most this often. */
const REFRESH_EVERY_MS = 1_000;
/** A browser gives a stream up when it is refused, as by a proxy while the service restarts; then it is opened again. */
const REOPEN_MS = 3_000;
/** A restart of a second is nobody's business. */
const LOST_AFTER_MS = 4_000;

/**
 * One stream of server-sent events for this tab. What a query's `kinds` name is read anew when the stream names it. Answers
 * whether the service has been out of reach for some seconds; `onBack` is called when it is back.
 */
export function useLive(onBack: () => void): { isLost: boolean } {
  const [isLost, setLost] = useState(false);
  useEffect(() => openLive(setLost, onBack), [onBack]);
  return { isLost };
}

function openLive(onLost: (isLost: boolean) => void, onBack: () => void): () => void {
  const changed = new Set<ChangeKind>();
  let refreshTimer: ReturnType<typeof setTimeout> | undefined;
  let reopenTimer: ReturnType<typeof setTimeout> | undefined;
  let lostTimer: ReturnType<typeof setTimeout> | undefined;
  let isFirst = true;
  let isClosed = false;
  let source = open();

  /** On a slow line the next reading waits for this one: they would take each other's place, and none would ever be done. */
  async function refreshChanged(): Promise<void> {
    const kinds = new Set(changed);
    changed.clear();
    await refresh({ predicate: ({ meta }) => meta?.kinds.some((kind) => kinds.has(kind)) ?? false });
    refreshTimer = undefined;
    if (changed.size > 0) refreshLater();
  }

  function refreshLater(): void {
    if (isClosed) return;
    refreshTimer ??= setTimeout(() => void refreshChanged(), REFRESH_EVERY_MS);
  }

  function open(isAgain = false): EventSource {
    const stream = new EventSource(apiUrl('GET /stream', {}));
    stream.addEventListener('open', () => {
      clearTimeout(lostTimer);
      lostTimer = undefined;
      onLost(false);
      // A stream of its own does not know what was missed before it.
      if (isAgain) void queryClient.invalidateQueries();
      if (!isFirst) onBack();
      isFirst = false;
    });
    stream.addEventListener('changes', (event) => {
      for (const { kind } of JSON.parse(event.data) as LiveChanges) changed.add(kind);
      refreshLater();
    });
    stream.addEventListener('reload', () => void queryClient.invalidateQueries());
    stream.addEventListener('error', () => {
      lostTimer ??= setTimeout(() => onLost(true), LOST_AFTER_MS);
      if (stream.readyState !== EventSource.CLOSED) return;
      clearTimeout(reopenTimer);
      reopenTimer = setTimeout(() => {
        source = open(true);
      }, REOPEN_MS);
    });
    return stream;
  }

  return () => {
    isClosed = true;
    source.close();
    for (const timer of [refreshTimer, reopenTimer, lostTimer]) clearTimeout(timer);
  };
}
