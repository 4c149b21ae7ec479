import { useEffect } from 'react';
import type { ChangeKind, LiveChanges } from '../../../src/contract/dashboard/live.ts';
import { apiUrl } from './client.ts';
import { queryClient } from './queries.ts';

/** A busy shop changes all the time; a page reads its lists anew at most this often. */
const REFRESH_EVERY_MS = 1_000;

/** One stream of server-sent events for this tab. What a query's `kinds` name is read anew when the stream names it. */
export function useLive(): void {
  useEffect(() => {
    const source = new EventSource(apiUrl('GET /stream', {}));
    const changed = new Set<ChangeKind>();
    let timer: ReturnType<typeof setTimeout> | null = null;

    function refresh(): void {
      timer = null;
      const kinds = new Set(changed);
      changed.clear();
      void queryClient.invalidateQueries({
        predicate: ({ meta }) => meta?.kinds.some((kind) => kinds.has(kind)) ?? false,
      });
    }

    source.addEventListener('changes', (event) => {
      for (const { kind } of JSON.parse(event.data) as LiveChanges) changed.add(kind);
      timer ??= setTimeout(refresh, REFRESH_EVERY_MS);
    });
    source.addEventListener('reload', () => void queryClient.invalidateQueries());
    return () => {
      source.close();
      if (timer !== null) clearTimeout(timer);
    };
  }, []);
}
