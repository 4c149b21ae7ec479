import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor, TeamRole } from '../../audit/actor.ts';
import type { BodyOf, DashboardOperation, ParamsOf, QueryOf, ResponseOf } from '../../contract/dashboard/operation.ts';
import type { StorageUse } from '../../quota/storage-usage.ts';
import type { AppOptions } from '../app-options.ts';
import type { Senders } from '../connection/senders.ts';
import type { DashboardOptions } from './dashboard-options.ts';
import type { OpenStreams } from './open-streams.ts';
import type { Sessions } from './sessions.ts';
import type { WebhookTools } from './webhook-tools.ts';

/** What all operations of the dashboard's API share. */
export type DashboardContext = Omit<AppOptions, 'dashboard'> & {
  dashboard: DashboardOptions;
  senders: Senders;
  sessions: Sessions;
  streams: OpenStreams;
  webhooks: WebhookTools;
};

/**
 * The person who asks. Every query of a handler is limited to `organizationId`, and ids in a request are checked
 * against it.
 */
export type SignedIn = {
  organizationId: string;
  userId: string;
  role: TeamRole;
  name: string;
  email: string;
  sessionId: string;
  showsTestData: boolean;
  /** The currency of the dealer's own prices. */
  currency: string;
  /** Owners see cost prices, staff if an owner has opened them to staff. */
  seesCost: boolean;
  /** What the dealer has stored today, as of the lookup of the session. */
  storage: StorageUse;
};

/** What a handler gets. All of it is checked: who may call the operation, params, query and body. */
export type Call<Op extends DashboardOperation = DashboardOperation> = {
  context: DashboardContext;
  /** Null in operations that are public. */
  user: Op['access'] extends 'public' ? null : SignedIn;
  /** The same person for the audit log; every domain function that changes something takes it. */
  actor: Op['access'] extends 'public' ? null : Extract<Actor, { kind: 'person' }>;
  /** The address of the client, behind any trusted proxies. */
  address: string;
  params: ParamsOf<Op>;
  query: QueryOf<Op>;
  body: BodyOf<Op>;
  request: FastifyRequest;
  reply: FastifyReply;
  /**
   * Adds to what the dealer has stored today. What is stored by statements and as photos is counted by itself; this is for
   * what others will store because of the operation.
   */
  countStorage(bytes: number): Promise<void>;
  /** Throws if the person may no longer call the operation; for a file that has taken its time to come. */
  assertAdmitted(): Promise<void>;
};

/** Answers with the response's body; null answers 204. A file or a stream is sent through `reply`, which it returns. */
export type Handler<Op extends DashboardOperation> = (
  call: Call<Op>,
) => Promise<Op['response'] extends string ? FastifyReply : ResponseOf<Op>>;

/** One handler for each operation of a table: `export const teamHandlers: Handlers<typeof teamOperations> = {…}`. */
export type Handlers<Operations extends Record<string, DashboardOperation>> = {
  [Id in keyof Operations]: Handler<Operations[Id]>;
};
