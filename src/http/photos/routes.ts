import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { SemaphoreError } from '../../concurrency/limits/keyed-semaphore.ts';
import { ApiError } from '../../contract/errors.ts';
import { ANSWER_PIECE_LIMIT_MS } from '../../contract/limits.ts';
import { networkOf } from '../../dealers/users/client-network.ts';
import {
  type FoundPhoto,
  type PhotoReader,
  parsePhotoName,
  type Visitor,
} from '../../inventory/photos/photo-reader.ts';
import { PhotoStorageError } from '../../inventory/photos/storage/photo-storage-error.ts';
import { clientAddress, type TrustedProxies } from '../connection/client-address.ts';
import { clientSignal } from '../connection/client-signal.ts';
import { onceClosed } from '../connection/once-closed.ts';
import { cutSlowReader, SLOWEST_FILE_BYTES, type SlowReaderLimits } from '../connection/slow-reader.ts';
import { isMatch } from '../etag.ts';
import { reading } from '../public/database-faults.ts';

/** The bytes at a photo's address never change; another picture gets another id. */
const FOREVER = 'public, max-age=31536000, immutable';
/** Raise it whenever photos are encoded in another way, so that caches don't keep the old bytes. */
const ENCODING_REVISION = 1;
const BUSY_RETRY_SECONDS = 2;

type PhotoOptions = {
  photoReader: PhotoReader;
  trustedProxies: TrustedProxies;
  /** How slowly a photo may be read. */
  slowReader?: SlowReaderLimits | undefined;
};
const SLOW_READER: SlowReaderLimits = { periodMs: ANSWER_PIECE_LIMIT_MS, bytes: SLOWEST_FILE_BYTES };

/** Photos are open to everyone who has the address: the visitors of a dealer's website need them. */
export async function photoRoutes(app: FastifyInstance, options: PhotoOptions): Promise<void> {
  const { photoReader, slowReader = SLOW_READER } = options;
  app.addHook('onRequest', async (request, reply) => {
    // Websites of other origins show them, unlike the rest of the service.
    reply.header('Cross-Origin-Resource-Policy', 'cross-origin').header('Access-Control-Allow-Origin', '*');
    if (request.method === 'GET' || request.method === 'HEAD') return undefined;
    return plain(reply.header('Allow', 'GET, HEAD'), 405, 'Photos are read with GET.');
  });
  app.setNotFoundHandler(async (_request, reply) => missing(reply));

  // Two routes: Fastify's own HEAD would run the GET and read its stream to the end.
  app.head('/:name', async (request, reply) => {
    const visitor = visitorOf(options, request);
    const photo = await findPhoto(photoReader, request, visitor);
    if (photo === 'busy') return busy(reply);
    if (photo === null) return missing(reply);
    if (isKnown(request, describe(reply, request))) return reply.code(304).send();
    const found = await unlessBusy(request, visitor, () => photoReader.stat(photo, visitor));
    if (found === 'busy') return busy(reply);
    if (found === null) return missing(reply);
    // The length of a variant that does not exist yet is not known; HTTP allows the header to be absent.
    if (found.size !== null) reply.header('Content-Length', found.size);
    return reply.type(`image/${photo.format}`).send();
  });
  app.get('/:name', { exposeHeadRoute: false }, async (request, reply) => {
    const visitor = visitorOf(options, request);
    const photo = await findPhoto(photoReader, request, visitor);
    if (photo === 'busy') return busy(reply);
    if (photo === null) return missing(reply);
    if (isKnown(request, describe(reply, request))) return reply.code(304).send();
    const opened = await unlessBusy(request, visitor, () => photoReader.open(photo, visitor));
    if (opened === 'busy') return busy(reply);
    if (opened === null) return missing(reply);
    onceClosed(reply.raw, () => {
      opened.release();
      opened.body.destroy();
    });
    cutSlowReader(reply.raw, slowReader);
    if (opened.size !== null) reply.header('Content-Length', opened.size);
    return reply.type(`image/${photo.format}`).send(opened.body);
  });
}

function visitorOf({ trustedProxies }: PhotoOptions, request: FastifyRequest): Required<Visitor> {
  return { network: networkOf(clientAddress(request, trustedProxies)), signal: clientSignal(request) };
}

async function findPhoto(
  photoReader: PhotoReader,
  request: FastifyRequest,
  visitor: Required<Visitor>,
): Promise<FoundPhoto | null | 'busy'> {
  const wanted = parsePhotoName(nameOf(request));
  if (wanted === null) return null;
  return await reading(() => unlessBusy(request, visitor, () => photoReader.find(wanted, visitor)));
}

/** Sets what every answer about a photo carries, and returns its ETag. */
function describe(reply: FastifyReply, request: FastifyRequest): string {
  const etag = `W/"${nameOf(request)}-${ENCODING_REVISION}"`;
  reply.header('Cache-Control', FOREVER).header('ETag', etag);
  return etag;
}

function isKnown(request: FastifyRequest, etag: string): boolean {
  return isMatch(request.headers['if-none-match'], etag);
}

function nameOf(request: FastifyRequest): string {
  return (request.params as { name: string }).name;
}

/** The result of a task, or `busy` if it could not begin in time, or the storage does not answer. */
async function unlessBusy<Result>(
  request: FastifyRequest,
  { signal }: Required<Visitor>,
  task: () => Promise<Result>,
): Promise<Result | 'busy'> {
  try {
    return await task();
  } catch (error) {
    // The client has disconnected, so nobody reads the answer.
    if (error instanceof SemaphoreError || signal.aborted) return 'busy';
    if (!(error instanceof PhotoStorageError)) throw error;
    // The visitor is only asked to try again; the operator reads in the log why.
    request.fault = new ApiError('internal_error', { cause: error });
    return 'busy';
  }
}

function busy(reply: FastifyReply): FastifyReply {
  return plain(reply.header('Retry-After', BUSY_RETRY_SECONDS), 503, 'Try again in a moment.');
}

function missing(reply: FastifyReply): FastifyReply {
  return plain(reply, 404, 'There is no such photo.');
}

/** Browsers show these in place of a picture, so people read them, not programs. */
function plain(reply: FastifyReply, status: number, text: string): FastifyReply {
  return reply
    .code(status)
    .removeHeader('ETag')
    .header('Cache-Control', 'no-store')
    .type('text/plain; charset=utf-8')
    .send(`${text}\n`);
}
