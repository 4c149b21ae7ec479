import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Cursors } from '../../channel/reads/cursors.ts';
import type { DocumentReader } from '../../channel/reads/read-documents.ts';
import type { BodyOf, Operation, ParamsOf, QueryOf } from '../../contract/operations/operation.ts';
import type { AppOptions } from '../app-options.ts';
import type { AdmittedIntegration } from './authentication.ts';
import type { ReadCache } from './reads/read-cache.ts';
import type { ReadLimits } from './reads/read-limits.ts';
import type { WriteExecutor } from './writes/execute-writes.ts';

/** What all operations of the public API share: the options, and the caches and codecs made from them. */
export type PublicContext = AppOptions & {
  reader: DocumentReader;
  cursors: Cursors;
  readCache: ReadCache;
  readLimits: ReadLimits;
  writes: WriteExecutor;
};

/** What a handler gets, all of it checked. It returns the body to send. */
export type Call<Op extends Operation = Operation> = {
  context: PublicContext;
  integration: AdmittedIntegration;
  params: ParamsOf<Op>;
  query: QueryOf<Op>;
  body: BodyOf<Op>;
  request: FastifyRequest;
  reply: FastifyReply;
};
export type Handler<Op extends Operation = Operation> = (call: Call<Op>) => Promise<unknown>;
/** An open operation has no integration. */
export type OpenHandler = (call: Pick<Call, 'context' | 'request' | 'reply'>) => Promise<unknown>;
