import Type, { type Static, type TSchema } from 'typebox';
import type { ErrorCode } from '../errors.ts';
import { BODY_LIMIT_BYTES } from '../limits.ts';

/** One operation of the API: what it takes, what it answers and what it costs. */
export type Operation<
  Params extends TSchema = TSchema,
  Query extends TSchema = TSchema,
  Body extends TSchema = TSchema,
> = {
  id: string;
  method: 'GET' | 'POST';
  /** Served under {base_url}/api; parameters are written {like_this}. */
  path: string;
  tag: Tag;
  summary: string;
  description: string;
  /** Rate-limit tokens. An open operation needs no key and costs nothing. */
  cost: number;
  isOpen: boolean;
  /** True for every mutating POST: the `Idempotency-Key` header is required. */
  isIdempotent: boolean;
  /** The answer carries an ETag; to a request that names it in If-None-Match the answer is 304. */
  hasEtag: boolean;
  bodyLimitBytes: number;
  params: Params;
  query: Query;
  body: Body | null;
  bodyExample?: unknown;
  /** If no field is required, the body may be left out. */
  isBodyOptional?: boolean;
  success: { status: number; description: string; schema: TSchema; example: unknown };
  /** A second status of success, with the same body. */
  alsoSuccess?: { status: number; description: string };
  /** The error codes of this operation besides those that all of its kind share. */
  errors: readonly ErrorCode[];
};

export const TAGS = {
  Service: 'Open endpoints about the service itself.',
  Integration: 'The integration behind the API key.',
  Listings: 'Watches on the channel.',
  Parts: 'Spare parts on the channel.',
  Orders: 'Orders taken on the client’s site.',
  Reservations: 'Units that are held for the time of a checkout.',
  Customers: 'The people who buy.',
  Events: 'What happened on the dealer’s side: as webhooks, and as a list for catching up.',
} as const;
export type Tag = keyof typeof TAGS;

export type ParamsOf<Op extends Operation> = Static<Op['params']>;
export type QueryOf<Op extends Operation> = Static<Op['query']>;
export type BodyOf<Op extends Operation> = Op['body'] extends TSchema ? Static<Op['body']> : null;

const nothing = Type.Object({});

export function read<Params extends TSchema = typeof nothing, Query extends TSchema = typeof nothing>(
  operation: Pick<Operation, 'id' | 'path' | 'tag' | 'summary' | 'description' | 'success' | 'errors'> & {
    isOpen?: boolean;
    hasEtag?: boolean;
    params?: Params;
    query?: Query;
  },
) {
  const isOpen = operation.isOpen ?? false;
  return {
    ...operation,
    method: 'GET' as const,
    isOpen,
    cost: isOpen ? 0 : 1,
    isIdempotent: false,
    hasEtag: operation.hasEtag ?? false,
    bodyLimitBytes: BODY_LIMIT_BYTES,
    params: (operation.params ?? nothing) as Params,
    query: (operation.query ?? nothing) as Query,
    body: null,
  } satisfies Operation<Params, Query, TSchema>;
}

/** A mutating POST: it carries an Idempotency-Key, and may be retried at any time. */
export function write<Body extends TSchema, Params extends TSchema = typeof nothing>(
  operation: Pick<
    Operation,
    'id' | 'path' | 'tag' | 'summary' | 'description' | 'success' | 'alsoSuccess' | 'errors' | 'cost'
  > & {
    body: Body;
    bodyExample: unknown;
    isBodyOptional?: boolean;
    bodyLimitBytes?: number;
    params?: Params;
  },
) {
  return {
    ...operation,
    method: 'POST' as const,
    isOpen: false as const,
    isIdempotent: true,
    hasEtag: false,
    bodyLimitBytes: operation.bodyLimitBytes ?? BODY_LIMIT_BYTES,
    params: (operation.params ?? nothing) as Params,
    query: nothing,
    body: operation.body,
  } satisfies Operation<Params, typeof nothing, Body>;
}
