import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { COMMAND_LINE, type Role } from '../../src/audit/actor.ts';
import { createUser } from '../../src/dealers/users/users.ts';
import { freePort } from '../service/service-process.ts';
import { openBrowser } from './browser.ts';
import { TEST_PASSWORD } from './dashboard-client.ts';
import { type Dealer, startWorld, type World } from './world.ts';

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
  person(dealer: Dealer, role?: Role): Promise<Person>;
  stop(): Promise<void>;
};

export type Look = { width?: number; scheme?: 'light' | 'dark' };
export type Person = { email: string; name: string; userId: string };
export type OpenedPage = { page: Page; context: BrowserContext; complaints: string[] };

export const DESKTOP_WIDTH = 1440;
export const PHONE_WIDTH = 390;
const HEIGHTS: Record<number, number> = { [DESKTOP_WIDTH]: 900, [PHONE_WIDTH]: 844 };
const WAIT_LIMIT_MS = 20_000;

let peopleMade = 0;

export async function startDashboard(options: Parameters<typeof startWorld>[0] = {}): Promise<DashboardSite> {
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const world = await startWorld({ publicUrl: url, port, ...options });
  const browser = await openBrowser().catch(async (error: unknown) => {
    await world.stop();
    throw error;
  });

  async function open(path: string, { width = DESKTOP_WIDTH, scheme = 'light' }: Look = {}): Promise<OpenedPage> {
    const context = await browser.newContext({
      viewport: { width, height: HEIGHTS[width] ?? 900 },
      colorScheme: scheme,
      reducedMotion: 'reduce',
      locale: 'en-US',
      timezoneId: 'UTC',
    });
    context.setDefaultTimeout(WAIT_LIMIT_MS);
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      // A refused request is logged by the browser itself; what the page does about it is the test's matter.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
        complaints.push(message.text());
      }
    });
    await page.goto(`${url}${path}`);
    return { page, context, complaints };
  }

  return {
    world,
    browser,
    url,
    open,
    async openAs(person, path, look) {
      const opened = await open(`/sign-in?next=${encodeURIComponent(path)}`, look);
      await signIn(opened.page, person.email);
      await opened.page.waitForURL((address) => !address.pathname.startsWith('/sign-in'));
      await settled(opened.page);
      return opened;
    },
    async person({ organizationId }, role = 'owner') {
      peopleMade += 1;
      const [email, name] = [`browser${peopleMade}-${process.pid}@dealer.example`, `Person ${peopleMade}`];
      const input = { organizationId, name, email, password: TEST_PASSWORD, role };
      const { id: userId } = await createUser(world.db, COMMAND_LINE, input);
      return { email, name, userId };
    },
    async stop() {
      await closeBrowser(browser);
      await world.stop();
    },
  };
}

const CLOSE_LIMIT_MS = 20_000;

/** A browser that does not close in time is left to the end of the run, which removes what it started. */
async function closeBrowser(browser: Browser): Promise<void> {
  const timer = new AbortController();
  const late = sleep(CLOSE_LIMIT_MS, undefined, { signal: timer.signal, ref: false }).catch(() => {});
  await Promise.race([browser.close(), late]);
  timer.abort();
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
  await page.evaluate('document.fonts.ready.then(() => undefined)');
}

type Violation = { id: string; help: string; nodes: { target: string[]; failureSummary: string }[] };

const AXE = readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** Fails with one line for each thing that axe finds on the page as it is. */
export async function assertAccessible(page: Page, place: string): Promise<void> {
  // Through the debugger, which the page's content policy does not hold back.
  await page.evaluate(AXE);
  const { violations } = (await page.evaluate('axe.run()')) as { violations: Violation[] };
  const found = violations.map(({ id, help, nodes }) => {
    const places = nodes.map((node) => `${node.target.join(' ')}: ${node.failureSummary.replaceAll(/\s+/g, ' ')}`);
    return `${id}: ${help} (${places.join('; ')})`;
  });
  assert.deepEqual(found, [], `axe on ${place}`);
}
