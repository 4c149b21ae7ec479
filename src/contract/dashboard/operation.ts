import Type, { type Static, type TSchema } from 'typebox';
import { BODY_LIMIT_BYTES } from '../limits.ts';

/**
 * One operation of the dashboard's API. The table of all of them (operations.ts) is what the routes, the validation,
 * the OpenAPI document and the types of the client in dashboard/src/api come from.
 */
export type DashboardOperation = {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Below /api/dashboard; parameters are written {like_this}. */
  path: string;
  /** Who may call it: everyone, everyone who is signed in, or owners only. */
  who: 'public' | 'staff' | 'owner';
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
};

const nothing = Type.Object({});
type Nothing = typeof nothing;

type Definition<
  Method,
  Path,
  Who,
  Params extends TSchema,
  Query extends TSchema,
  Body extends TSchema | null,
  Response,
> = {
  method: Method;
  path: Path;
  who: Who;
  description: string;
  params?: Params;
  query?: Query;
  body?: Body;
  response: Response;
  bodyLimitBytes?: number;
  isUpload?: boolean;
};

/** Fills in the defaults of an operation, and keeps method and path as literal types for the client. */
export function operation<
  const Method extends DashboardOperation['method'],
  const Path extends `/${string}`,
  const Who extends DashboardOperation['who'],
  Response extends TSchema | null | string,
  Params extends TSchema = Nothing,
  Query extends TSchema = Nothing,
  Body extends TSchema | null = null,
>(definition: Definition<Method, Path, Who, Params, Query, Body, Response>) {
  return {
    ...definition,
    params: (definition.params ?? nothing) as Params,
    query: (definition.query ?? nothing) as Query,
    body: (definition.body ?? null) as Body,
    bodyLimitBytes: definition.bodyLimitBytes ?? BODY_LIMIT_BYTES,
    isUpload: definition.isUpload ?? false,
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
