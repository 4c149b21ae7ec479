import type { FastifyInstance } from 'fastify';
import { OPERATIONS } from '../../../contract/operations.ts';
import { CURRENT_VERSION } from '../../../contract/versions.ts';
import type { Readiness } from '../../readiness.ts';
import type { OpenHandler } from '../handler.ts';

export const getReady: OpenHandler = ({ context }) => answer(context.readiness);

/** The same for a process without the API, because a load balancer or supervisor asks every role. */
export async function readyRoute(app: FastifyInstance, { readiness }: { readiness: Readiness }): Promise<void> {
  app.get(OPERATIONS.getReady.path, async (_request, reply) => {
    reply.header('x-api-version', CURRENT_VERSION);
    reply.header('cache-control', 'no-store');
    return await answer(readiness);
  });
}

async function answer(readiness: Readiness): Promise<{ status: 'ready' }> {
  await readiness.assertReady();
  return { status: 'ready' };
}
