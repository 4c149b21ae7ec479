import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isMatch } from '../etag.ts';
import { ASSETS, versionOf } from './assets.ts';
import { renderPage } from './layout.ts';
import { siteAt } from './page.ts';
import { missingPage } from './pages/missing-page.ts';
import { docsPages } from './pages.ts';

/** Pages load their own style, fonts and icon; nothing runs in them, and nothing comes from elsewhere. */
const PAGE_POLICY =
  "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const FOREVER = 'public, max-age=31536000, immutable';
/** Browsers keep a page and revalidate it each time: a new release shows at once, and an unchanged page costs a 304. */
const REVALIDATED = 'public, no-cache';

export type DocsOptions = {
  publicUrl: string;
  /** Whether the root address opens the docs, because there is no dashboard. */
  isHome: boolean;
};

export async function docsRoutes(app: FastifyInstance, options: DocsOptions): Promise<void> {
  const site = siteAt(options.publicUrl);
  const home = `${site.basePath}/docs/api`;
  if (options.isHome) app.get('/', async (_request, reply) => reply.redirect(home));
  await app.register(
    async (docs) => {
      docs.addHook('onRequest', refuseOtherMethods);
      docs.get('/', async (_request, reply) => reply.redirect(home));

      const pages = docsPages(site);
      for (const page of pages) {
        const rendered = renderedOnce(() => renderPage(page, pages, site));
        for (const url of [page.path, `${page.path}/`]) {
          docs.get(url, async (request, reply) => sendPage(request, reply, rendered()));
        }
      }
      for (const asset of ASSETS) {
        docs.get(`/api/${asset.path}`, async (request, reply) => {
          const { v } = request.query as { v?: unknown };
          return reply
            .header('Cache-Control', v === asset.version ? FOREVER : REVALIDATED)
            .type(asset.type)
            .send(asset.body);
        });
      }

      const missing = renderedOnce(() => renderPage(missingPage(pages, site), pages, site));
      docs.setNotFoundHandler(async (_request, reply) =>
        reply
          .code(404)
          .header('Content-Security-Policy', PAGE_POLICY)
          .header('Cache-Control', 'no-store')
          .type('text/html; charset=utf-8')
          .send(missing().body),
      );
    },
    { prefix: '/docs' },
  );
}

/** Bytes, which all answers share: a text would be encoded for each, and kept for each client that does not read it. */
type RenderedPage = { body: Buffer; etag: string };

/** Nothing on a page depends on the request, so each is rendered once, when it is first asked for. */
function renderedOnce(render: () => string): () => RenderedPage {
  let rendered: RenderedPage | undefined;
  return () => {
    if (rendered === undefined) {
      const body = Buffer.from(render());
      rendered = { body, etag: `"${versionOf(body)}"` };
    }
    return rendered;
  };
}

function sendPage(request: FastifyRequest, reply: FastifyReply, { body, etag }: RenderedPage): FastifyReply {
  reply.header('Cache-Control', REVALIDATED).header('ETag', etag).header('Content-Security-Policy', PAGE_POLICY);
  if (isMatch(request.headers['if-none-match'], etag)) return reply.code(304).send();
  return reply.type('text/html; charset=utf-8').send(body);
}

/** Answered before a body is read: no page takes one. */
async function refuseOtherMethods(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
  if (request.method === 'GET' || request.method === 'HEAD') return undefined;
  return reply
    .code(405)
    .header('Allow', 'GET, HEAD')
    .type('text/plain; charset=utf-8')
    .send('Pages are read with GET.\n');
}
