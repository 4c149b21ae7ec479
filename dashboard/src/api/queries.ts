import {
  keepPreviousData,
  notifyManager,
  QueryClient,
  type QueryFilters,
  type QueryKey,
  queryOptions,
  type UseQueryOptions,
  type UseQueryResult,
  useMutation,
  useQuery,
} from '@tanstack/react-query';
import { useRef } from 'react';
import type { ChangeKind } from '../../../src/contract/dashboard/live.ts';
import { toastError, toastSuccess } from '../ui/feedback/toasts.ts';
import { ApiFailure, api, type Input, type Output, type ReadRoute, type Route } from './client.ts';

declare module '@tanstack/react-query' {
  interface Register {
    queryMeta: { kinds: readonly ChangeKind[] };
  }
}

const STALE_MS = 30_000;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: STALE_MS,
      retry: (count, error) =>
        count < 2 && (!(error instanceof ApiFailure) || error.status === 0 || error.status >= 500),
    },
  },
});

/**
 * What a page reads: `useQuery(read('GET /team', {}, ['team']))`, and the same in the route's loader with
 * `queryClient.ensureQueryData`. The kinds say which changes of the live stream make it be read anew.
 */
export function read<R extends ReadRoute>(route: R, input: Input<R>, kinds: readonly ChangeKind[]) {
  return queryOptions({
    queryKey: [route, input],
    queryFn: () => (api as (route: R, input: Input<R>) => Promise<Output<R>>)(route, input),
    meta: { kinds },
  });
}

/** Like `useQuery`; while another page or filter is read, the answer before stays. */
export function useKeptQuery<Data, Key extends QueryKey>(
  options: UseQueryOptions<Data, Error, Data, Key>,
): UseQueryResult<Data> {
  return useQuery({ ...options, placeholderData: keepPreviousData });
}

/**
 * Reads what matches again, and waits until the pages know it. They hear of it a moment after it is there: whoever takes back in
 * between what was shown meanwhile shows the old state once more.
 */
export async function refresh(filters: QueryFilters): Promise<void> {
  await queryClient.invalidateQueries(filters);
  await new Promise<void>((resolve) => notifyManager.schedule(resolve));
}

/** Reads what shows things of this kind again, and waits for it. */
export async function readAnew(kind: ChangeKind): Promise<void> {
  await refresh({ predicate: ({ meta }) => meta?.kinds.includes(kind) ?? false });
}

type OperationOptions<R extends Route> = {
  /** Shown when it is done. */
  success?: string;
  /** If it returns a promise, the operation is pending until then: so a page is up to date when its buttons work again. */
  onSuccess?: (output: Output<R>, input: Input<R>) => unknown;
  /** Of `useForm`: it shows errors of its own fields; all others become a toast. An error has one place, never two. */
  form?: { values: object; setFieldError(field: string, message: string): void };
  /** Deals with some failures itself, and says so by true. */
  onFailure?: (error: ApiFailure) => boolean;
  /**
   * Each time it would be done again, and nothing would refuse it. So the attempt gets a name, and whoever tries again after an
   * answer was lost has it done once.
   */
  isNamed?: boolean;
  /** What is done in the same queue is done one after the other: the service could take two requests the other way round. */
  queue?: string;
  /** Shows every refusal itself, as the page for signing in does. */
  onRefusal?: (message: string) => void;
};

/**
 * What a page does: `const invite = useOperation('POST /team/invitations', { success: 'Invited.' })`, `invite.mutate(…)`. While
 * it runs, the same once more is the second half of a double click, and is left out: a button is disabled too late for that.
 */
export function useOperation<R extends Route>(route: R, options: OperationOptions<R> = {}) {
  const running = useRef(new Set<string>());
  const attempt = useAttemptNames();
  const { mutate, ...mutation } = useMutation<Output<R>, ApiFailure, Input<R>>({
    ...(options.queue === undefined ? {} : { scope: { id: options.queue } }),
    mutationFn: (input) =>
      (api as (route: R, input: Input<R>) => Promise<Output<R>>)(route, options.isNamed ? attempt.named(input) : input),
    async onSuccess(output, input) {
      if (options.success !== undefined) toastSuccess(options.success);
      await options.onSuccess?.(output, input);
    },
    onSettled(_, error, input) {
      running.current.delete(textOf(input));
      if (!isLost(error)) attempt.end();
    },
    onError(error) {
      if (options.onFailure?.(error) === true) return;
      if (options.onRefusal !== undefined) return options.onRefusal(error.message);
      const { form } = options;
      if (form !== undefined && error.field !== undefined && hasField(form.values, error.field)) {
        return form.setFieldError(error.field, error.message);
      }
      if (error.code !== 'unauthenticated') toastError(error);
    },
  });
  const mutateOnce: typeof mutate = (...call) => {
    const text = textOf(call[0]);
    // Two files look the same as JSON, and are not; and in a queue, another wish may have come between two that are the same.
    const isFile = call[0] !== undefined && 'body' in call[0] && call[0].body instanceof Blob;
    if (running.current.has(text) && !isFile && options.queue === undefined) return;
    running.current.add(text);
    mutate(...call);
  };
  return { ...mutation, mutate: mutateOnce };
}

/** Names attempts: one that is made again with the same input keeps its name until the service has answered. */
function useAttemptNames() {
  const last = useRef<{ input: string; name: string } | null>(null);
  return {
    named<I>(input: I): I {
      const text = textOf(input);
      if (last.current?.input !== text) last.current = { input: text, name: crypto.randomUUID() };
      return { ...input, body: { ...(input as { body?: object }).body, attempt: last.current.name } };
    },
    end() {
      last.current = null;
    },
  };
}

/** Nobody knows whether it was done. */
function isLost(error: ApiFailure | null): boolean {
  return error !== null && (error.status === 0 || error.status >= 500);
}

function textOf(input: unknown): string {
  return JSON.stringify(input) ?? '';
}

/** `address.country` is a field of the object `address`. */
function hasField(values: object, path: string): boolean {
  let found: unknown = values;
  for (const name of path.split('.')) {
    if (typeof found !== 'object' || found === null || !(name in found)) return false;
    found = (found as Record<string, unknown>)[name];
  }
  return true;
}
