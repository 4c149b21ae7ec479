import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, BrowserContext, Locator, Page, Request } from 'playwright-core';
import { COMMAND_LINE, type TeamRole } from '../../../src/audit/actor.ts';
import { insertUser } from '../../../src/dealers/users/users.ts';
import { freePort } from '../../service/service-process.ts';
import { dashboardClient } from '../http/dashboard-client.ts';
import { TEST_PASSWORD, TEST_PASSWORD_HASH } from '../passwords.ts';
import { withinLimit } from '../time-limit.ts';
import { type Dealer, startWorld, type World } from '../world.ts';
import { openBrowser } from './browser.ts';

/**
 * The dashboard in a real browser, on the real service. Find things by role and label, never by test ids:
 * `page.getByRole('button', { name: 'Save' })`.
 */
export type DashboardSite = {
  world: World;
  browser: Browser;
  /** http://localhost and the port: what PUBLIC_URL is. */
  url: string;
  /** A page in a browser of its own; complaints collects what the console and the page say is wrong. */
  open(path: string, look?: Look): Promise<OpenedPage>;
  /** Signs somebody of the dealer in and opens a page. */
  openAs(person: Person, path: string, look?: Look): Promise<OpenedPage>;
  person(dealer: Dealer, role?: TeamRole): Promise<Person>;
  stop(): Promise<void>;
};

export type Look = { width?: number; scheme?: 'light' | 'dark' };
export type Person = { email: string; name: string; userId: string };
export type OpenedPage = {
  page: Page;
  context: BrowserContext;
  complaints: string[];
  /** Waits until the page has drawn what came of the last click, and whatever that began has been answered. */
  answered(): Promise<void>;
};

export const DESKTOP_WIDTH = 1440;
export const PHONE_WIDTH = 390;
/** The two ends of what the style sheets decide: what holds in both holds in between. */
export const LOOKS: Required<Look>[] = [
  { scheme: 'light', width: DESKTOP_WIDTH },
  { scheme: 'dark', width: PHONE_WIDTH },
];
const HEIGHTS: Record<number, number> = { [DESKTOP_WIDTH]: 900, [PHONE_WIDTH]: 844 };
/** Ten times what a page takes on a machine that does something else as well. */
const WAIT_LIMIT_MS = 60_000;
/** The driver gives these no limit: starting and closing a browser or a page, and running a script in it. */
const DRIVER_LIMIT_MS = 90_000;

let peopleMade = 0;

export async function startDashboard(options: Parameters<typeof startWorld>[0] = {}): Promise<DashboardSite> {
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const world = await startWorld({ publicUrl: url, port, ...options });
  const browser = await withinLimit('starting the browser', DRIVER_LIMIT_MS, openBrowser()).catch(async (error) => {
    await world.stop();
    throw error;
  });

  /** Windows that were closed. The next page in one of them takes half of the CPU time: the application is in its cache, compiled. */
  const idle: BrowserContext[] = [];
  /** A page of each window that stays open: without it, the renderer ends with the last page, and the next starts cold. */
  const blankPages = new WeakMap<BrowserContext, Page>();

  async function makeContext(): Promise<BrowserContext> {
    const making = browser.newContext({ locale: 'en-US', timezoneId: 'UTC' });
    const context = await withinLimit('opening a window', DRIVER_LIMIT_MS, making);
    context.setDefaultTimeout(WAIT_LIMIT_MS);
    blankPages.set(context, await withinLimit('opening a page', DRIVER_LIMIT_MS, context.newPage()));
    // Tests close their windows in hooks, which have no time limit.
    context.close = () => withinLimit('closing a window', DRIVER_LIMIT_MS, recycle(context));
    return context;
  }

  /** Leaves nothing of its page but what the browser keeps of files. */
  async function recycle(context: BrowserContext): Promise<void> {
    const pages = context.pages().filter((page) => page !== blankPages.get(context));
    const [page] = pages;
    if (page !== undefined) {
      const session = await context.newCDPSession(page);
      await session.send('Storage.clearDataForOrigin', { origin: url, storageTypes: 'local_storage,indexeddb' });
    }
    await context.clearCookies();
    await context.setOffline(false);
    for (const each of pages) await each.close();
    idle.push(context);
  }

  async function openWindow({ width = DESKTOP_WIDTH, scheme = 'light' }: Look = {}): Promise<OpenedPage> {
    const context = idle.pop() ?? (await makeContext());
    const page = await withinLimit('opening a page', DRIVER_LIMIT_MS, context.newPage());
    await page.setViewportSize({ width, height: HEIGHTS[width] ?? 900 });
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      // A refused request is logged by the browser itself; what the page does about it is the test's matter.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
        complaints.push(message.text());
      }
    });
    return { page, context, complaints, answered: answersOf(page) };
  }

  async function open(path: string, look?: Look): Promise<OpenedPage> {
    const opened = await openWindow(look);
    await opened.page.goto(`${url}${path}`);
    return opened;
  }

  return {
    world,
    browser,
    url,
    open,
    async openAs(person, path, look) {
      // The sign-in page has its own tests; the others are spared one load of the application each.
      const client = dashboardClient(world);
      const answer = await client.signIn(person.email);
      assert.equal(answer.status, 200, answer.text);
      const opened = await openWindow(look);
      const cookies = answer.headers.getSetCookie().map((line) => {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        return { name, value, url };
      });
      await opened.context.addCookies(cookies);
      await opened.page.goto(`${url}${path}`);
      await settled(opened.page);
      return opened;
    },
    async person({ organizationId }, role = 'owner') {
      peopleMade += 1;
      const [email, name] = [`browser${peopleMade}-${process.pid}@dealer.example`, `Person ${peopleMade}`];
      const { id: userId } = await insertUser(
        world.db,
        COMMAND_LINE,
        { organizationId, name, email, role },
        TEST_PASSWORD_HASH,
      );
      return { email, name, userId };
    },
    async stop() {
      try {
        // A browser that does not close is left to the end of the run, which removes what it started.
        await withinLimit('closing the browser', DRIVER_LIMIT_MS, browser.close());
      } finally {
        await withinLimit('stopping the service', DRIVER_LIMIT_MS, world.stop());
      }
    },
  };
}

/** A page that asks nothing for so long after a click has been told all that the click meant. */
const QUIET_MS = 250;

function answersOf(page: Page): () => Promise<void> {
  const underWay = new Set<Request>();
  let lastEndedAt = 0;
  const ends = (request: Request) => {
    underWay.delete(request);
    lastEndedAt = Date.now();
  };
  page.on('request', (request) => {
    // The stream of changes never ends.
    if (request.resourceType() !== 'eventsource') underWay.add(request);
  });
  page.on('requestfinished', ends).on('requestfailed', ends);

  return async function answered() {
    await evaluate(page, 'new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn())))');
    const drawnAt = Date.now();
    while (underWay.size > 0 || Date.now() - Math.max(drawnAt, lastEndedAt) < QUIET_MS) {
      if (Date.now() - drawnAt > WAIT_LIMIT_MS)
        throw new Error(`no answer to ${[...underWay].map((one) => one.url())}`);
      await sleep(UNTIL_POLL_MS);
    }
  };
}

export async function signIn(page: Page, email: string, password = TEST_PASSWORD): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').first().fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Waits until the page shows its content: nothing is a skeleton any more. */
export async function settled(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  // Not by a function in the page, which its content policy would not let the driver evaluate again and again.
  await page.locator('[aria-busy="true"], .mantine-Skeleton-root').first().waitFor({ state: 'detached' });
  await evaluate(page, 'document.fonts.ready.then(() => undefined)');
}

async function evaluate(page: Page, script: string): Promise<unknown> {
  return await withinLimit(`the script "${script.slice(0, 40)}"`, DRIVER_LIMIT_MS, page.evaluate(script));
}

type Violation = { id: string; help: string; nodes: { target: string[]; failureSummary: string }[] };

const AXE = readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** Fails with one line for each thing that axe finds on the page as it is. */
export async function assertAccessible(page: Page, place: string): Promise<void> {
  // Through the debugger, which the page's content policy does not hold back.
  if ((await evaluate(page, 'typeof axe')) === 'undefined') await evaluate(page, AXE);
  const { violations } = (await evaluate(page, "axe.run({ resultTypes: ['violations'] })")) as {
    violations: Violation[];
  };
  const found = violations.map(({ id, help, nodes }) => {
    const places = nodes.map((node) => `${node.target.join(' ')}: ${node.failureSummary.replaceAll(/\s+/g, ' ')}`);
    return `${id}: ${help} (${places.join('; ')})`;
  });
  assert.deepEqual(found, [], `axe on ${place}`);
}

/** Fails if the page scrolls sideways. */
export async function assertFits(page: Page, place: string): Promise<void> {
  const overflow = Number(await evaluate(page, 'document.documentElement.scrollWidth - innerWidth'));
  assert.ok(overflow <= 0, `${place} is wider than its window by ${overflow} px`);
}

/** Shows the same page in another width and scheme, as a window that is dragged. */
export async function turnTo(page: Page, { width, scheme }: Required<Look>): Promise<void> {
  await page.setViewportSize({ width, height: HEIGHTS[width] ?? 900 });
  await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
  await page.locator(`html[data-mantine-color-scheme="${scheme}"]`).waitFor();
  await settled(page);
  // Colors may change gradually; a frame later, all that will change has begun to.
  await evaluate(
    page,
    `new Promise(requestAnimationFrame)
      .then(() => document.getAnimations().filter((one) => one.effect?.getComputedTiming().endTime !== Infinity))
      .then((ending) => Promise.allSettled(ending.map((one) => one.finished)))
      .then(() => undefined)`,
  );
}

/** The page as it is: nothing for axe to find and no sideways scrolling, wide and light as well as narrow and dark. */
export async function assertBothLooks(page: Page, place: string): Promise<void> {
  for (const look of LOOKS) {
    await turnTo(page, look);
    const seen = `${place}, ${look.scheme} at ${look.width} px`;
    await assertAccessible(page, seen);
    await assertFits(page, seen);
  }
}

/** A message at the edge of the page. */
export function toast(page: Page, text: string): Locator {
  return page.getByRole('alert').filter({ hasText: text });
}

/** The one primary action of a form. */
export async function save(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Save', exact: true }).click();
}

const UNTIL_POLL_MS = 50;

/** Asks again until the assertion holds. */
export async function until(assertion: () => Promise<void>): Promise<void> {
  const deadline = Date.now() + WAIT_LIMIT_MS;
  for (;;) {
    try {
      return await assertion();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(UNTIL_POLL_MS);
    }
  }
}
