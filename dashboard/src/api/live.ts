import { useEffect, useState } from 'react';
import type { ChangeKind, LiveChanges } from '../../../src/contract/dashboard/live.ts';
import { apiUrl } from './client.ts';
import { queryClient } from './queries.ts';

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
  let source = open();

  function refresh(): void {
    refreshTimer = undefined;
    const kinds = new Set(changed);
    changed.clear();
    void queryClient.invalidateQueries({
      predicate: ({ meta }) => meta?.kinds.some((kind) => kinds.has(kind)) ?? false,
    });
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
      refreshTimer ??= setTimeout(refresh, REFRESH_EVERY_MS);
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
    source.close();
    for (const timer of [refreshTimer, reopenTimer, lostTimer]) clearTimeout(timer);
  };
}
