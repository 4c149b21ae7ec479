import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startWorld, type World } from '../harness/world.ts';

/** All script that the first page needs before it shows anything, as it travels. */
const FIRST_LOAD_LIMIT_BYTES = 300 * 1024;

describe('the pages of the dashboard', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  const open = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${world.origin}${path}`, { headers: { accept: 'text/html', ...headers } });

  it('are one page at every address that a browser opens, with a policy that runs no inline script', async () => {
    for (const path of ['/', '/watches', '/orders/ord_1?tab=timeline']) {
      const response = await open(path);
      assert.equal(response.status, 200, path);
      assert.match(response.headers.get('content-type') ?? '', /^text\/html/);
      const policy = response.headers.get('content-security-policy') ?? '';
      assert.match(policy, /script-src 'self';/);
      assert.match(policy, /frame-ancestors 'none'/);
      const html = await response.text();
      assert.doesNotMatch(html, /<script(?![^>]*\bsrc=)/, 'an inline script would not run');
      assert.match(html, /src="\/assets\//);
    }
  });

  it('leave the API, the docs, photos and unknown addresses of programs alone', async () => {
    for (const path of ['/api/nowhere', '/photos/nowhere', '/docs/nowhere']) {
      assert.notEqual((await open(path)).status, 200, path);
    }
    const response = await open('/nowhere', { accept: 'application/json' });
    assert.equal(response.status, 404);
    assert.equal(((await response.json()) as { error: { code: string } }).error.code, 'route_not_found');
  });

  it('load at most 300 KB of brotli script first, in files that browsers keep for good', async () => {
    const html = await (await open('/')).text();
    const scripts = [...html.matchAll(/(?:src|href)="(\/[^"]+\.js)"/g)].map(([, path]) => path ?? '');
    assert.ok(scripts.length > 0);
    let bytes = 0;
    for (const path of scripts) {
      const response = await fetch(`${world.origin}${path}`, { headers: { 'accept-encoding': 'br' } });
      assert.equal(response.headers.get('content-encoding'), 'br', path);
      bytes += Number(response.headers.get('content-length'));
      if (path.startsWith('/assets/')) assert.match(response.headers.get('cache-control') ?? '', /immutable/, path);
    }
    assert.ok(bytes <= FIRST_LOAD_LIMIT_BYTES, `the first load is ${Math.round(bytes / 1024)} KB of script`);
  });

  it('are answered with 304 when a browser has them', async () => {
    const etag = (await open('/')).headers.get('etag') ?? '';
    assert.equal((await open('/', { 'if-none-match': etag })).status, 304);
  });

  it('have a strong ETag for each encoding, and an encoding of weight zero is not sent', async () => {
    const html = await (await open('/')).text();
    const path = /(?:src|href)="(\/assets\/[^"]+\.js)"/.exec(html)?.[1] ?? '';
    const etags = new Set<string>();
    for (const [accepted, encoding] of [
      ['br, gzip', 'br'],
      ['br;q=0, gzip', 'gzip'],
      ['identity', null],
    ] as const) {
      const response = await open(path, { 'accept-encoding': accepted });
      await response.arrayBuffer();
      assert.equal(response.headers.get('content-encoding'), encoding, accepted);
      const etag = response.headers.get('etag') ?? '';
      assert.match(etag, /^"/, accepted);
      etags.add(etag);
      const again = await open(path, { 'accept-encoding': accepted, 'if-none-match': etag });
      assert.equal(again.status, 304, accepted);
    }
    assert.equal(etags.size, 3);
  });
});

describe('the dashboard while its pages are being built', () => {
  it('says so, and asks the browser to come again', async (t) => {
    const world = await startWorld({ dashboard: { pages: () => null } });
    t.after(() => world.stop());
    const response = await fetch(`${world.origin}/`);
    assert.equal(response.status, 503);
    assert.equal(response.headers.get('refresh'), '1');
    assert.match(await response.text(), /is being built/);
  });
});

describe('a service without the dashboard', () => {
  it('opens the docs at its address', async (t) => {
    const world = await startWorld({ dashboard: null });
    t.after(() => world.stop());
    const response = await fetch(`${world.origin}/`, { redirect: 'manual' });
    assert.equal(response.status, 302);
    assert.equal(response.headers.get('location'), '/docs/api');
  });
});
