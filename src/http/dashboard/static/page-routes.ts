import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { acceptedEncoding } from '../../accept-encoding.ts';
import { isMatch } from '../../etag.ts';
import { pathOf } from '../../request-url.ts';
import { routeNotFound } from '../../route-not-found.ts';
import type { DashboardOptions } from '../dashboard-options.ts';
import type { PageFile, PageFiles } from './page-files.ts';

/** Scripts come from this service alone. Mantine sets styles from script, which 'unsafe-inline' is for. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
const FOREVER = 'public, max-age=31536000, immutable';
const REVALIDATED = 'no-cache';
/** Paths that are never a page of the dashboard. */
const OTHER_PATHS = /^\/(api|docs|photos)(\/|$)/;

/**
 * The dashboard's pages. One HTML page answers every address that a browser opens; the router in it shows the rest. A
 * program that asks for an unknown address still gets the catalogue's 404.
 */
export function servePages(app: FastifyInstance, { pages }: Pick<DashboardOptions, 'pages'>): void {
  app.get('/', async (request, reply) => sendPage(pages(), request, reply));
  app.get('/assets/*', async (request, reply) => {
    const file = pages()?.files.get(pathOf(request.url).slice(1));
    if (file === undefined) throw routeNotFound(request);
    return send(file, request, reply);
  });
  // It is not a wildcard route, which would replace the 404 of the docs and the API.
  app.setNotFoundHandler(async (request, reply) => {
    const path = pathOf(request.url);
    if (request.method !== 'GET' || OTHER_PATHS.test(path)) throw routeNotFound(request);
    const file = pages()?.files.get(path.slice(1));
    if (file !== undefined) return send(file, request, reply);
    if (!isBrowser(request)) throw routeNotFound(request);
    return sendPage(pages(), request, reply);
  });
}

function sendPage(pages: PageFiles | null, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.header('Content-Security-Policy', PAGE_POLICY);
  if (pages !== null) return send(pages.page, request, reply);
  return reply
    .code(503)
    .header('Retry-After', '1')
    .header('Refresh', '1')
    .header('Cache-Control', 'no-store')
    .type('text/html; charset=utf-8')
    .send(BUILDING);
}

function send(file: PageFile, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const accepted = acceptedEncoding(request.headers['accept-encoding']);
  const encoding = file.encoded[accepted] === undefined ? 'identity' : accepted;
  const { body, etag } = file.encoded[encoding] ?? file.encoded.identity;
  reply.header('Cache-Control', file.isHashed ? FOREVER : REVALIDATED).header('ETag', etag);
  reply.header('Vary', 'Accept-Encoding');
  if (isMatch(request.headers['if-none-match'], etag)) return reply.code(304).send();
  if (encoding !== 'identity') reply.header('Content-Encoding', encoding);
  return reply.type(file.type).send(body);
}

function isBrowser(request: FastifyRequest): boolean {
  return String(request.headers.accept ?? '').includes('text/html');
}

const BUILDING = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Crownwheel</title></head>
<body><h1>Crownwheel</h1><p>The dashboard is being built. This page opens it in a few seconds.</p></body></html>
`;
