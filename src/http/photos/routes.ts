import type { FastifyInstance, FastifyReply } from 'fastify';
import { SemaphoreError } from '../../concurrency/keyed-semaphore.ts';
import {
  type FoundPhoto,
  type OpenedPhoto,
  type PhotoGallery,
  parsePhotoName,
} from '../../inventory/photos/photo-gallery.ts';
import { isMatch } from '../if-none-match.ts';
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

  app.get('/:name', async (request, reply) => {
    const { name } = request.params as { name: string };
    const wanted = parsePhotoName(name);
    const photo = wanted === null ? null : await reading(() => gallery.find(wanted));
    if (photo === null) return missing(reply);

    const etag = `W/"${name}-${ENCODING_REVISION}"`;
    reply.header('Cache-Control', FOREVER).header('ETag', etag);
    if (isMatch(request.headers['if-none-match'], etag)) return reply.code(304).send();

    const opened = await openUnlessBusy(gallery, photo);
    if (opened === 'busy') return plain(reply.header('Retry-After', BUSY_RETRY_SECONDS), 503, 'Try again in a moment.');
    if (opened === null) return missing(reply);
    return reply.type(`image/${photo.format}`).header('Content-Length', opened.size).send(opened.body);
  });
}

async function openUnlessBusy(gallery: PhotoGallery, photo: FoundPhoto): Promise<OpenedPhoto | null | 'busy'> {
  try {
    return await gallery.open(photo);
  } catch (error) {
    if (error instanceof SemaphoreError) return 'busy';
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
