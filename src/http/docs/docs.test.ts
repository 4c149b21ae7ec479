import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { openBrowser } from '../../../test/harness/browser/browser.ts';
import { until } from '../../../test/harness/browser/dashboard-browser.ts';
import { exchange } from '../../../test/harness/http/api-client.ts';
import { publishNew, watch } from '../../../test/harness/stock.ts';
import { PUBLIC_URL, startWorld, type World } from '../../../test/harness/world.ts';
import { ERROR_CODES, ERRORS } from '../../contract/errors.ts';
import { EVENT_LOG_DAYS } from '../../contract/limits.ts';
import type { Operation } from '../../contract/operations/operation.ts';
import { ADMISSION_ERRORS, errorsOf, OPERATIONS, WRITE_ERRORS } from '../../contract/operations.ts';
import { CHECKS } from './pages/order-of-checks.ts';

const PAGES = ['/docs/api', '/docs/api/webhooks', '/docs/api/errors', '/docs/api/benchmarks'];
const DESKTOP = { width: 1440, height: 900 };
/** The narrowest screen that WCAG asks pages to fit. */
const PHONE = { width: 320, height: 640 };
/** The style breaks any name on the narrowest screens; on a common phone a long one has to allow it by itself. */
const PHONES = [PHONE, { width: 390, height: 844 }];
const operations: Operation[] = Object.values(OPERATIONS);

let world: World;
let browser: Browser;

before(async () => {
  // One after the other: a browser that nobody holds because the other failed would keep the test run from ending.
  world = await startWorld();
  browser = await openBrowser();
});
after(async () => {
  await browser?.close();
  await world?.stop();
});

test('the examples of errors have the fields that the server sends, and the envelope has the types of the description', async () => {
  const dealer = await world.dealer();
  const listing = await publishNew(world, dealer, watch());
  await dealer.api.post('/v1/orders', { channel_order_id: 'SO-1', lines: [{ listing_id: listing }] });
  const answers = [
    await dealer.api.post('/v1/orders', { channel_order_id: 'SO-1' }),
    await dealer.api.post('/v1/reservations', { listing_id: listing }),
    await dealer.api.get('/v1/listings?after=no-cursor'),
    await dealer.api.get('/v1/listings?limit=no-number'),
  ];
  await withPage('/docs/api/errors', {}, async (page) => {
    for (const { body } of answers) {
      const example = JSON.parse((await page.locator(`section#${body.error.code} pre`).textContent()) ?? '').error;
      assert.deepEqual(Object.keys(example).sort(), Object.keys(body.error).sort(), body.error.code);
      assert.equal(example.param, body.error.param);
      assert.equal(typeof example.remaining_quantity, typeof body.error.remaining_quantity);
    }
    const kinds = await page.locator('#envelope dl.fields dt').allTextContents();
    assert.deepEqual(kinds.slice(-3), ['paramstring', 'existing_idstring', 'remaining_quantityinteger']);
    assert.ok(kinds.includes('codestring'), 'the codes are not all listed there');
  });
});

test('the error page gives status, type, cause and recovery of every code of the catalogue, and of no other', async () => {
  await withPage('/docs/api/errors', {}, async (page) => {
    const shown = await page.evaluate(`[...document.querySelectorAll('section.error')].map((section) => ({
      code: section.id,
      heading: section.querySelector('h3').textContent,
      status: Number(section.querySelector('.status').textContent),
      type: section.querySelector('.type').textContent,
      cause: section.querySelector('.cause').textContent,
      recovery: section.querySelector('.recovery').textContent,
      example: JSON.parse(section.querySelector('pre').textContent).error,
    }))`);
    const plain = (text: string) => text.replaceAll('`', '');
    const byCode = (a: { code: string }, b: { code: string }) => a.code.localeCompare(b.code);
    const sections = shown as { code: string; example: Record<string, unknown> }[];
    assert.deepEqual(
      sections.map(({ example, ...rest }) => rest).toSorted(byCode),
      ERROR_CODES.map((code) => ({
        code,
        heading: code,
        status: ERRORS[code].status,
        type: ERRORS[code].type,
        cause: plain(ERRORS[code].cause),
        recovery: plain(ERRORS[code].recovery),
      })).toSorted(byCode),
    );
    for (const { code, example } of sections) {
      assert.equal(example.code, code);
      assert.equal(example.doc_url, `${PUBLIC_URL}/docs/api/errors#${code}`);
    }
  });
});

test('both forms of an anchor bring their code into view and highlight it, and no anchor is without a code', async () => {
  await withPage('/docs/api/errors', {}, async (page) => {
    const older = await page.evaluate(`[...document.querySelectorAll('[id^="errors-"]')].map((element) => element.id)`);
    assert.deepEqual(new Set(older as string[]), new Set(ERROR_CODES.map((code) => `errors-${code}`)));
    for (const code of ERROR_CODES) {
      for (const anchor of [code, `errors-${code}`]) {
        await page.goto(`${world.origin}/docs/api/errors#${anchor}`);
        const expected = { code, isInView: true, highlighted: [code] };
        // Fonts that arrive late move what the browser has scrolled to.
        await until(async () => assert.deepEqual(await targetedError(page), expected, anchor));
      }
    }
  });
});

test('the doc_url of a real error leads to the explanation of its code', async () => {
  const { body } = await world.client('svc_notAKey').get('/v1/me');
  assert.equal(body.error.code, 'malformed_authorization');
  const { hash, pathname } = new URL(body.error.doc_url);
  await withPage(pathname + hash, { viewport: PHONE }, async (page) => {
    const expected = { code: body.error.code, isInView: true, highlighted: [body.error.code] };
    await until(async () => assert.deepEqual(await targetedError(page), expected));
  });
});

test('the overview describes every operation and links each error that it can answer with', async () => {
  await withPage('/docs/api', {}, async (page) => {
    for (const operation of operations) {
      const section = page.locator(`section#${operation.id}`);
      assert.equal(await section.locator('h3').textContent(), operation.summary);
      assert.equal(await section.locator('.route .method').textContent(), operation.method);
      assert.equal(await section.locator('.route > code').textContent(), operation.path);
      assert.deepEqual(JSON.parse((await section.locator('.json pre').textContent()) ?? ''), operation.success.example);
      const links = (await page.evaluate(
        `[...document.querySelectorAll('#${operation.id} .error-list a')].map((link) => link.hash.slice(1))`,
      )) as string[];
      assert.deepEqual(links.toSorted(), errorsOf(operation).toSorted());
      const cost = page.locator(`.costs tr:has(a[href="#${operation.id}"]) td:last-child`);
      assert.match(
        (await cost.textContent()) ?? '',
        operation.isOpen ? /^free$/ : new RegExp(`^${operation.cost} tokens?$`),
      );
    }
  });
});

test('pagination and idempotency are described exactly when an operation has them', async () => {
  await withPage('/docs/api', {}, async (page) => {
    const isWriteServed = operations.some((operation) => operation.isIdempotent);
    const isListServed = operations.some((operation) => JSON.stringify(operation.query).includes('"after"'));
    assert.equal(await page.locator('#idempotency').count(), isWriteServed ? 1 : 0);
    assert.equal(await page.locator('#pagination').count(), isListServed ? 1 : 0);
  });
});

test('lists are described with the rules that keep a client from losing rows', async () => {
  await withPage('/docs/api', {}, async (page) => {
    const pagination = (await page.locator('#pagination').textContent()) ?? '';
    assert.match(pagination, /carries the filters/);
    assert.match(pagination, /invalid_request/);
    const sync = (await page.locator('#sync').textContent()) ?? '';
    assert.match(sync, /only when the last page/);
    assert.match(sync, new RegExp(`more than ${EVENT_LOG_DAYS} days`));
    assert.match(sync, /deleted: true/);
  });
});

test('the order of checks names every error of admission, and every error of a write that a check can cause', () => {
  const named = new Set(CHECKS.flatMap((check) => check.codes));
  // A lookup that failed is a fault of the server, not a check.
  const expected = [...ADMISSION_ERRORS, ...WRITE_ERRORS].filter((code) => code !== 'lookup_failed');
  assert.deepEqual(
    expected.filter((code) => !named.has(code)),
    [],
  );
});

for (const path of PAGES) {
  test(`${path} loads without a complaint of the browser, by day and by night`, async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await withPage(path, { colorScheme }, async (page, complaints) => {
        assert.equal(await page.evaluate('document.fonts.ready.then(() => document.fonts.check("16px Jost"))'), true);
        assert.deepEqual(complaints, []);
      });
    }
  });

  test(`${path} fits a phone: nothing is wider than the screen, also with everything unfolded`, async () => {
    for (const phone of PHONES) {
      await withPage(path, { viewport: phone }, async (page) => {
        const width = 'document.documentElement.scrollWidth';
        assert.equal(await page.evaluate(width), phone.width);
        await page.evaluate('document.querySelectorAll("details").forEach((details) => { details.open = true; })');
        assert.equal(await page.evaluate(width), phone.width);
      });
    }
  });

  test(`${path} has readable contrast, by day and by night`, async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await withPage(path, { colorScheme }, async (page) => {
        await page.evaluate('document.querySelectorAll("details").forEach((details) => { details.open = true; })');
        assert.deepEqual(await page.evaluate(FAINT_TEXT), [], colorScheme);
      });
    }
  });

  test(`on ${path} every id is there once, and every link inside the site leads somewhere`, async () => {
    await withPage(path, {}, async (page) => {
      const ids = (await page.evaluate(
        '[...document.querySelectorAll("[id]")].map((element) => element.id)',
      )) as string[];
      assert.equal(new Set(ids).size, ids.length);
      const found = await page.evaluate(
        '[...document.querySelectorAll("a[href]")].map((link) => link.getAttribute("href"))',
      );
      const targets = new Set((found as string[]).map((href) => new URL(href, `${world.origin}${path}`).href));
      const texts = new Map<string, string>();
      for (const target of targets) {
        const { pathname, hash } = new URL(target);
        if (!texts.has(pathname)) {
          const response = await exchange(`${world.origin}${pathname}`, {});
          assert.equal(response.status, 200, pathname);
          texts.set(pathname, response.text);
        }
        if (hash !== '') assert.ok(texts.get(pathname)?.includes(`id="${hash.slice(1)}"`), target);
      }
    });
  });

  test(`${path} is served with and without a slash, under a policy that lets nothing run`, async () => {
    const response = await exchange(`${world.origin}${path}`, {});
    assert.equal(response.status, 200);
    assert.equal(response.headers['content-type'], 'text/html; charset=utf-8');
    assert.match(response.headers['content-security-policy'] ?? '', /^default-src 'none'; style-src 'self';/);
    assert.doesNotMatch(response.headers['content-security-policy'] ?? '', /script-src|unsafe/);
    assert.doesNotMatch(response.text, /<script|<style|\sstyle=|\son\w+=/);
    const withSlash = await exchange(`${world.origin}${path}/`, {});
    assert.equal(withSlash.text, response.text);
  });

  test(`${path} is not sent again to a browser that has it`, async () => {
    const { headers } = await exchange(`${world.origin}${path}`, {});
    const etag = headers.etag ?? '';
    const again = await exchange(`${world.origin}${path}`, { headers: { 'if-none-match': `"other", W/${etag}` } });
    assert.equal(again.status, 304);
    assert.equal(again.text, '');
    assert.equal(again.headers.etag, etag);
  });
}

test('the style and what it loads may be kept for good under the address of their version, and not under another', async () => {
  const { text } = await exchange(`${world.origin}/docs/api`, {});
  const [style = ''] = /\/docs\/api\/style\.css\?v=[\w-]+/.exec(text) ?? [];
  const response = await exchange(`${world.origin}${style}`, {});
  assert.equal(response.headers['content-type'], 'text/css; charset=utf-8');
  const fonts = [...response.text.matchAll(/url\("(fonts\/[^"]+)"\)/g)].map((match) => `/docs/api/${match[1]}`);
  assert.ok(fonts.length > 0);
  for (const path of [style, ...fonts]) {
    const kept = await exchange(`${world.origin}${path}`, {});
    assert.equal(kept.status, 200, path);
    assert.equal(kept.headers['cache-control'], 'public, max-age=31536000, immutable', path);
    const other = await exchange(`${world.origin}${path}x`, {});
    assert.equal(other.headers['cache-control'], 'public, no-cache', path);
  }
});

test('/docs leads to the overview', async () => {
  for (const path of ['/docs', '/docs/']) {
    const response = await exchange(`${world.origin}${path}`, {});
    assert.equal(response.status, 302, path);
    assert.equal(response.headers.location, '/docs/api', path);
  }
});

test('an unknown page is a 404 that shows the way to the others', async () => {
  await withPage('/docs/api/no-such-page', { viewport: PHONE }, async (page, complaints) => {
    assert.equal(await page.locator('h1').textContent(), 'This page is not here.');
    for (const path of PAGES) assert.ok((await page.locator(`main a[href="${path}"]`).count()) > 0);
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), PHONE.width);
    // The browser itself remarks on the status of the page, and on nothing else.
    assert.deepEqual(
      complaints.map((complaint) => /status of 404/.test(complaint)),
      [true],
    );
  });
  const response = await exchange(`${world.origin}/docs/api/no-such-page`, {});
  assert.equal(response.status, 404);
  assert.equal(response.headers['content-type'], 'text/html; charset=utf-8');
});

test('a page takes no other method than GET and HEAD, and no body', async () => {
  for (const path of ['/docs', '/docs/api', '/docs/nothing']) {
    const headers = { 'content-type': 'text/strange' };
    const response = await exchange(`${world.origin}${path}`, { method: 'POST', body: '<a/>', headers });
    assert.equal(response.status, 405, path);
    assert.equal(response.headers.allow, 'GET, HEAD', path);
  }
  const head = await exchange(`${world.origin}/docs/api`, { method: 'HEAD' });
  assert.equal(head.status, 200);
  assert.equal(head.text, '');
});

test('behind a proxy that adds a path, every link inside the site begins with that path', async () => {
  const prefixed = await startWorld({ publicUrl: 'https://dealers.test/crownwheel' });
  try {
    for (const path of PAGES) {
      const { text } = await exchange(`${prefixed.origin}${path}`, {});
      const hrefs = [...text.matchAll(/(?:href|src)="(\/[^"]*)"/g)].map((match) => match[1] ?? '');
      assert.ok(hrefs.length > 0);
      assert.deepEqual(
        hrefs.filter((href) => !/^\/crownwheel\/(docs|api)\//.test(href)),
        [],
      );
    }
  } finally {
    await prefixed.stop();
  }
});

type Targeted = { code: string | null; isInView: boolean; highlighted: string[] };

/** Which error the address in the browser points at, whether it can be seen, and which errors look highlighted. */
async function targetedError(page: Page): Promise<Targeted> {
  return await page.evaluate(`(() => {
    const section = document.querySelector(':target')?.closest('section.error');
    const box = section?.getBoundingClientRect();
    const masthead = document.querySelector('.masthead').getBoundingClientRect();
    return {
      code: section?.id ?? null,
      isInView: box !== undefined && box.top >= masthead.bottom && box.top < innerHeight / 2,
      highlighted: [...document.querySelectorAll('section.error')]
        .filter((other) => getComputedStyle(other).boxShadow !== 'none').map((other) => other.id),
    };
  })()`);
}

/** Opens a page in a browser profile of its own; complaints are errors in the console and what could not be loaded. */
async function withPage(
  path: string,
  options: BrowserContextOptions,
  use: (page: Page, complaints: string[]) => Promise<void>,
): Promise<void> {
  const context = await browser.newContext({ viewport: DESKTOP, reducedMotion: 'reduce', ...options });
  try {
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('requestfailed', (request) => complaints.push(`${request.url()} could not be loaded`));
    await page.goto(`${world.origin}${path}`);
    // Until its fonts are there, text has other widths.
    await page.evaluate('document.fonts.ready.then(() => undefined)');
    await use(page, complaints);
  } finally {
    await context.close();
  }
}

/**
 * Runs in the page: every text whose colour stands out from what is behind it by less than 4.5 to 1, as WCAG counts
 * it. Colours are painted onto a canvas, which knows every way of writing one.
 */
const FAINT_TEXT = `(() => {
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  const over = (color, under) => {
    canvas.fillStyle = 'rgb(' + under.join(',') + ')';
    canvas.fillRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data.slice(0, 3)];
  };
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((value) => value / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const backgroundOf = (element) =>
    element === null ? [255, 255, 255] : over(getComputedStyle(element).backgroundColor, backgroundOf(element.parentElement));
  const faint = new Set();
  for (const element of document.body.querySelectorAll('*')) {
    const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '');
    if (!hasText || !element.checkVisibility()) continue;
    const background = backgroundOf(element);
    const [darker, lighter] = [luminance(over(getComputedStyle(element).color, background)), luminance(background)].sort((a, b) => a - b);
    const contrast = (lighter + 0.05) / (darker + 0.05);
    if (contrast < 4.5) faint.add(element.tagName + '.' + element.className + ' ' + contrast.toFixed(2));
  }
  return [...faint];
})()`;
