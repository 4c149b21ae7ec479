import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { SemaphoreError } from '../../concurrency/keyed-semaphore.ts';
import {
  type FoundPhoto,
  type OpenedPhoto,
  type PhotoGallery,
  parsePhotoName,
} from '../../inventory/photos/photo-gallery.ts';
import { isMatch } from '../etag.ts';
import { reading } from '../public/database-faults.ts';

/** What stands under a photo's address never changes; another picture gets another id. */
const FOREVER = 'public, max-age=31536000, immutable';
/** Raise it if photos are to be encoded in another way, so that no cache takes the one for the other. */
const ENCODING_REVISION = 1;
const BUSY_RETRY_SECONDS = 2;

/** Photos are open to everyone who has the address: the visitors of a dealer's website need them. */
export async function photoRoutes(app: FastifyInstance, { gallery }: { gallery: PhotoGallery }): Promise<void> {
  app.addHook('onRequest', async (request, reply) => {
    // Websites of other origins show them, unlike the rest of the service.
    reply.header('Cross-Origin-Resource-Policy', 'cross-origin').header('Access-Control-Allow-Origin', '*');
    if (request.method === 'GET' || request.method === 'HEAD') return undefined;
    return plain(reply.header('Allow', 'GET, HEAD'), 405, 'Photos are read with GET.');
  });
  app.setNotFoundHandler(async (_request, reply) => missing(reply));

  // Two routes: Fastify's own HEAD would run the GET and read its stream to the end.
  app.head('/:name', async (request, reply) => {
    const photo = await findPhoto(gallery, request);
    if (photo === null) return missing(reply);
    if (isKnown(request, describe(reply, request))) return reply.code(304).send();
    const found = await gallery.stat(photo);
    if (found === null) return missing(reply);
    // Of a variant that is not made yet the length is not known, and HTTP lets it be absent.
    if (found.size !== null) reply.header('Content-Length', found.size);
    return reply.type(`image/${photo.format}`).send();
  });
  app.get('/:name', { exposeHeadRoute: false }, async (request, reply) => {
    const photo = await findPhoto(gallery, request);
    if (photo === null) return missing(reply);
    if (isKnown(request, describe(reply, request))) return reply.code(304).send();
    const opened = await openUnlessBusy(gallery, photo, clientSignal(reply));
    if (opened === 'busy') return plain(reply.header('Retry-After', BUSY_RETRY_SECONDS), 503, 'Try again in a moment.');
    if (opened === null) return missing(reply);
    if (opened.size !== null) reply.header('Content-Length', opened.size);
    return reply.type(`image/${photo.format}`).send(opened.body);
  });
}

async function findPhoto(gallery: PhotoGallery, request: FastifyRequest): Promise<FoundPhoto | null> {
  const wanted = parsePhotoName(nameOf(request));
  return wanted === null ? null : await reading(() => gallery.find(wanted));
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

/** Aborted when the client has gone before its answer was complete. */
function clientSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  // It may have gone while the photo was looked for.
  if (reply.raw.destroyed) gone.abort();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort();
  });
  return gone.signal;
}

async function openUnlessBusy(
  gallery: PhotoGallery,
  photo: FoundPhoto,
  signal: AbortSignal,
): Promise<OpenedPhoto | null | 'busy'> {
  try {
    return await gallery.open(photo, signal);
  } catch (error) {
    // Nobody reads the answer to a client that has gone.
    if (error instanceof SemaphoreError || signal.aborted) return 'busy';
    throw error;
  }
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
