import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { UnknownNames } from '../../json/unknown-names.ts';
import { didYouMean } from './did-you-mean.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The unknown names in the request; null until the body has been parsed, or if the operation takes no fields. */
    unknownNames: UnknownNames | null;
  }
}

/** A field or parameter that was ignored, and the one that was probably meant. */
export type IgnoredField = { path: string; meant: string | null };

/**
 * Names the fields and parameters that were ignored, in a header of the answer, whatever the answer is: otherwise
 * nobody would notice a typo. It depends on the request alone, so it is never part of a cached answer.
 */
export function nameIgnoredFields(app: FastifyInstance): void {
  app.decorateRequest('unknownNames', null);
  // Runs after the body has been parsed and before it is validated.
  app.addHook('preValidation', (request, reply, done) => {
    setHeader(request, reply);
    done();
  });
  // A body that can't be stored is refused as soon as it is parsed.
  app.addHook('onError', (request, reply, _error, done) => {
    if (request.unknownNames !== null && !reply.hasHeader('x-ignored-fields')) setHeader(request, reply);
    done();
  });
}

/** The ignored fields of a request, for its log. */
export function ignoredFieldsOf(request: Pick<FastifyRequest, 'unknownNames'>): IgnoredField[] {
  return (request.unknownNames?.names ?? []).map(({ path, parent, name, known }) => {
    const meant = didYouMean(name, Object.keys(known));
    return { path, meant: meant === null ? null : parent + meant };
  });
}

function setHeader(request: FastifyRequest, reply: FastifyReply): void {
  const { operation } = request.routeOptions.config;
  if (request.integration === null || operation === undefined) return;
  const { properties = {} } = operation.query as { properties?: Record<string, unknown> };
  for (const name of Object.keys(request.query as object)) {
    if (Object.hasOwn(properties, name)) continue;
    request.unknownNames ??= new UnknownNames();
    request.unknownNames.add(null, name, properties);
  }
  const header = request.unknownNames?.header() ?? null;
  if (header !== null) reply.header('x-ignored-fields', header);
}
