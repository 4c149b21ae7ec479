import type { ApiClient, ApiResponse } from '../harness/http/api-client.ts';

/** A listing or part as a client keeps it: whatever the server sent. */
export type Kept = { id: string; object: string; updated_at: string } & Record<string, unknown>;

export type SyncClient = {
  /** The client's own copy of everything readable, by id. */
  readonly copy: ReadonlyMap<string, Kept>;
  /**
   * Brings the copy up to date. It may be behind again at once; the next call catches up. False if it was refused
   * meanwhile, as while the channel is detached: then it is the same as if it had never begun.
   */
  sync(): Promise<boolean>;
};

type Removal = { type: string; created_at: string; data: { object: { id: string; deleted?: boolean } } };
type ListName = 'listings' | 'parts';

/**
 * The reference client: what an integrator writes who keeps a copy of the catalogue by polling alone. It needs nothing
 * but the documented lists, and three marks.
 *
 * A list runs from the newest change to the oldest, and rows move to its top while it is being paged. So the mark is the
 * newest stamp of the first page, and counts only when the last page was read: whatever changed in between has a later
 * stamp than that, and comes with the next call.
 *
 * Removals are in no list but in the events. An event and a document are stamped by one clock: a document that is newer
 * than its removal was published again since.
 *
 * Being refused in the middle does no harm: what was read until then is right, and the marks stand where they were.
 */
export function createSyncClient(api: ApiClient, limit: number): SyncClient {
  const copy = new Map<string, Kept>();
  const marks: Record<ListName | 'removals', string | null> = { listings: null, parts: null, removals: null };
  let isFirst = true;

  async function get(path: string): Promise<ApiResponse['body']> {
    const { status, body } = await api.get(path);
    if (status === 403) throw new Refusal();
    if (status !== 200) throw new Error(`GET ${path} answers ${status} ${JSON.stringify(body)}`);
    return body;
  }

  async function* pages<Row>(path: string, query: string): AsyncGenerator<Row[]> {
    for (let after = ''; ; ) {
      const body = await get(`${path}?${query}&limit=${limit}${after}`);
      yield body.data;
      if (!body.has_more) return;
      after = `&after=${body.next_cursor}`;
    }
  }

  async function pull(list: ListName): Promise<void> {
    const since = marks[list];
    // With updated_after a list holds every status; without, it has to be asked for.
    const query = since === null ? 'status=any' : `updated_after=${since}`;
    let newest: string | undefined;
    for await (const rows of pages<Kept>(`/v1/${list}`, query)) {
      newest ??= rows[0]?.updated_at;
      for (const row of rows) copy.set(row.id, row);
    }
    marks[list] = newest ?? since;
  }

  async function applyRemovals(): Promise<void> {
    const since = marks.removals;
    const query = `type=listing.unpublished,part.unpublished${since === null ? '' : `&created_after=${since}`}`;
    let newest: string | undefined;
    for await (const events of pages<Removal>('/v1/events', query)) {
      newest ??= events[0]?.created_at;
      for (const { type, created_at, data } of events) {
        // A listing that was merely taken off stays readable, and came with the list.
        const isGone = type === 'part.unpublished' || data.object.deleted === true;
        const kept = copy.get(data.object.id);
        if (isGone && kept !== undefined && kept.updated_at < created_at) copy.delete(kept.id);
      }
    }
    marks.removals = newest ?? since;
  }

  /** Nothing that was removed before the first list was asked for can be in it. */
  async function skipOldRemovals(): Promise<void> {
    const body = await get('/v1/events?limit=1');
    marks.removals = body.data[0]?.created_at ?? null;
    isFirst = false;
  }

  return {
    copy,
    async sync() {
      try {
        if (isFirst) await skipOldRemovals();
        await pull('listings');
        await pull('parts');
        await applyRemovals();
        return true;
      } catch (error) {
        if (error instanceof Refusal) return false;
        throw error;
      }
    },
  };
}

class Refusal extends Error {}
