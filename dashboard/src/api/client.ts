import type { DashboardErrorCode, DashboardErrorEnvelope } from '../../../src/contract/dashboard/errors.ts';
import type {
  BodyOf,
  DashboardOperation,
  ParamsOf,
  QueryOf,
  ResponseOf,
} from '../../../src/contract/dashboard/operation.ts';
import type { DashboardOperations } from '../../../src/contract/dashboard/operations.ts';
import { announceSessionEnd, currentSession } from './session-end.ts';

/**
 * The typed client of the dashboard's API: `api('PATCH /team/{user_id}', { params, body })`. Its types come from the table
 * of operations in src/contract/dashboard; nothing is generated, and nothing of the table is in the bundle.
 */
export type Route = {
  [Id in keyof DashboardOperations]: `${DashboardOperations[Id]['method']} ${DashboardOperations[Id]['path']}`;
}[keyof DashboardOperations];

type Operations = {
  [Id in keyof DashboardOperations as `${DashboardOperations[Id]['method']} ${DashboardOperations[Id]['path']}`]: DashboardOperations[Id];
};
export type OperationAt<R extends Route> = Extract<Operations[R], DashboardOperation>;
export type ReadRoute = Extract<Route, `GET ${string}`>;

type Part<Name extends string, Value> = [Value] extends [null]
  ? object
  : keyof Value extends never
    ? object
    : { [Key in keyof Value]?: never } extends Value
      ? { [N in Name]?: Value }
      : { [N in Name]: Value };
/** What a route is called with: `params`, `query` and `body`, as far as it takes them. */
export type Input<R extends Route> = Part<'params', ParamsOf<OperationAt<R>>> &
  Part<'query', QueryOf<OperationAt<R>>> &
  Part<'body', BodyOf<OperationAt<R>>>;
export type Output<R extends Route> = ResponseOf<OperationAt<R>>;

type LooseInput = { params?: Record<string, string>; query?: Record<string, unknown>; body?: unknown };

/** What the service refused, or why it could not be asked. The message is for the person in front of the page. */
export class ApiFailure extends Error {
  override readonly name = 'ApiFailure';
  readonly status: number;
  readonly code: DashboardErrorCode | 'offline';
  readonly field: string | undefined;
  readonly requestId: string | undefined;

  constructor(status: number, error: Omit<DashboardErrorEnvelope['error'], 'code'> & { code: ApiFailure['code'] }) {
    super(error.message);
    this.status = status;
    this.code = error.code;
    this.field = error.field;
    this.requestId = error.request_id === '' ? undefined : error.request_id;
  }
}

export const BASE_PATH = document.querySelector<HTMLMetaElement>('meta[name="base-path"]')?.content ?? '';

/** Where a route answers, for links to files and for uploads with progress. */
export function apiUrl<R extends Route>(route: R, input: Input<R>): string {
  return urlOf(route, input as LooseInput);
}

export async function api<R extends Route>(
  route: R,
  ...[input]: keyof Input<R> extends never ? [] : [Input<R>]
): Promise<Output<R>> {
  const given = (input ?? {}) as LooseInput;
  const [method = 'GET'] = route.split(' ');
  const isFile = given.body instanceof Blob;
  const session = currentSession();
  const isRead = method === 'GET';
  const unreachable = () => {
    throw new ApiFailure(0, { code: 'offline', message: isRead ? OFFLINE : OFFLINE_WRITE, request_id: '' });
  };
  const late = new AbortController();
  const limit = isRead ? setTimeout(() => late.abort(), READ_LIMIT_MS) : undefined;
  try {
    const response = await fetch(urlOf(route, given), {
      method,
      credentials: 'same-origin',
      signal: late.signal,
      ...(given.body === undefined ? {} : { body: isFile ? (given.body as Blob) : JSON.stringify(given.body) }),
      headers: given.body === undefined ? {} : { 'content-type': isFile ? FILE_TYPE : 'application/json' },
    }).catch(unreachable);
    if (!response.ok) throw noticed(await failureOf(response), session);
    return (response.status === 204 ? null : await response.json().catch(unreachable)) as Output<R>;
  } finally {
    clearTimeout(limit);
  }
}

/** A session that has ended is met by whoever asks first; the shell then asks for the password, over the open page. */
export function noticed(failure: ApiFailure, session: number): ApiFailure {
  if (failure.code === 'unauthenticated') announceSessionEnd(session);
  return failure;
}

/**
 * A browser waits for minutes when a connection is gone without a word, as on a phone that changes its network. What changes
 * meanwhile is read after it, so a page would show nothing new. Reads are tried again; of a write nobody knows what became of it.
 */
const READ_LIMIT_MS = 60_000;
const FILE_TYPE = 'application/octet-stream';
const OFFLINE = 'The service can’t be reached. Check your connection and try again.';
/** The answer may have been lost behind what it was about. */
const OFFLINE_WRITE =
  'The service can’t be reached. What you entered is still here: check your connection and try again.';

function urlOf(route: string, { params = {}, query = {} }: LooseInput): string {
  const path = route.slice(route.indexOf(' ') + 1);
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '') search.set(name, String(value));
  }
  return `${BASE_PATH}/api/dashboard${filled}${search.size === 0 ? '' : `?${search}`}`;
}

async function failureOf(response: Response): Promise<ApiFailure> {
  const requestId = response.headers.get('x-request-id') ?? '';
  try {
    const { error } = (await response.json()) as DashboardErrorEnvelope;
    return new ApiFailure(response.status, error);
  } catch {
    return new ApiFailure(response.status, {
      code: 'internal_error',
      message: 'The service did not answer as it should. Try again in a moment.',
      request_id: requestId,
    });
  }
}
