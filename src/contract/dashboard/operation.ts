import Type, { type Static, type TSchema } from 'typebox';
import { BODY_LIMIT_BYTES } from '../limits.ts';
import { PUBLIC_BODY_LIMIT_BYTES } from './limits.ts';

/**
 * What becomes of an operation when its dealer has used up the storage quota of the day:
 *
 * | | then | which operations |
 * |---|---|---|
 * | `refused` | 429 `storage_quota_exceeded` | Everything that stores and is not named below. |
 * | `reserve` | the same, but only past twice the quota | What a shop needs to go on selling and to defend itself: sales, matches, units, taking an item off sale, keys, roles; undoing a job and deleting many items, which can be cancelled and begun again. |
 * | `served` | never refused | Reads; deleting; what stores nothing; steps that an object takes only once, so that what they can store is bounded by what is there: fulfilling, confirming, dismissing, cancelling, voiding, releasing, erasing. |
 *
 * Fulfilling and cancelling an order is never refused. An operation that people could repeat without end, each time storing
 * something, is never `served`.
 */
export type OverQuota = 'refused' | 'reserve' | 'served';

/**
 * One operation of the dashboard's API. The table of all of them (operations.ts) is what the routes, the validation,
 * the OpenAPI document and the types of the client in dashboard/src/api come from.
 */
export type DashboardOperation = {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Below /api/dashboard; parameters are written {like_this}. */
  path: string;
  /** Who may call it: everyone, everyone who is signed in, or owners only. */
  access: 'public' | 'staff' | 'owner';
  description: string;
  params: TSchema;
  /** Texts and integers only, as a URL carries nothing else; a list is one text with commas. */
  query: TSchema;
  /** Null if it takes no JSON. */
  body: TSchema | null;
  /**
   * If it is null, the answer is 204. A string is the media type of a file or stream, which the handler sends itself.
   */
  response: TSchema | null | string;
  bodyLimitBytes: number;
  /** The body is a file, of any media type, which the handler reads from the request as it comes. */
  isUpload: boolean;
  /** It waits for something else than the database: an endpoint's answer, or the hash of a password. */
  waitsElsewhere: boolean;
  overQuota: OverQuota;
};

const SERVED_METHODS: readonly DashboardOperation['method'][] = ['GET', 'DELETE'];

const nothing = Type.Object({});
type Nothing = typeof nothing;

type Definition<
  Method,
  Path,
  Access,
  Params extends TSchema,
  Query extends TSchema,
  Body extends TSchema | null,
  Response,
> = {
  method: Method;
  path: Path;
  access: Access;
  description: string;
  params?: Params;
  query?: Query;
  body?: Body;
  response: Response;
  bodyLimitBytes?: number;
  isUpload?: boolean;
  waitsElsewhere?: boolean;
  /** By default, reads and deletions are served, and everything else is refused. */
  overQuota?: OverQuota;
};

/** Fills in the defaults of an operation, and keeps method and path as literal types for the client. */
export function operation<
  const Method extends DashboardOperation['method'],
  const Path extends `/${string}`,
  const Access extends DashboardOperation['access'],
  Response extends TSchema | null | string,
  Params extends TSchema = Nothing,
  Query extends TSchema = Nothing,
  Body extends TSchema | null = null,
>(definition: Definition<Method, Path, Access, Params, Query, Body, Response>) {
  return {
    ...definition,
    params: (definition.params ?? nothing) as Params,
    query: (definition.query ?? nothing) as Query,
    body: (definition.body ?? null) as Body,
    bodyLimitBytes:
      definition.bodyLimitBytes ?? (definition.access === 'public' ? PUBLIC_BODY_LIMIT_BYTES : BODY_LIMIT_BYTES),
    isUpload: definition.isUpload ?? false,
    waitsElsewhere: definition.waitsElsewhere ?? false,
    overQuota: definition.overQuota ?? (SERVED_METHODS.includes(definition.method) ? 'served' : 'refused'),
  } satisfies DashboardOperation;
}

export type ParamsOf<Op extends DashboardOperation> = Static<Op['params']>;
export type QueryOf<Op extends DashboardOperation> = Static<Op['query']>;
export type BodyOf<Op extends DashboardOperation> = Op['body'] extends TSchema ? Static<Op['body']> : null;
export type ResponseOf<Op extends DashboardOperation> = Op['response'] extends TSchema
  ? Static<Op['response']>
  : Op['response'] extends string
    ? unknown
    : null;
