import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBrowser } from '../harness/browser/browser.ts';
import { DESKTOP_WIDTH, PHONE_WIDTH, settled, signIn } from '../harness/browser/dashboard-browser.ts';

/**
 * Takes pictures of pages of a running service, to be looked at: at 1440 and 390 px, light and dark. Not a test.
 *
 *   npx node test/dashboard/screenshots.ts http://localhost:4000 demo@crownwheel.example PASSWORD [path …]
 */
const [origin = 'http://localhost:4000', email = '', password = '', ...paths] = process.argv.slice(2);
const ALL_PATHS = ['/sign-in', '/sign-up', '/', '/settings/account', '/settings/team'];

const dir = await mkdtemp(join(tmpdir(), 'crownwheel-screenshots-'));
const browser = await openBrowser();
try {
  for (const width of [DESKTOP_WIDTH, PHONE_WIDTH]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      const context = await browser.newContext({
        viewport: { width, height: 900 },
        colorScheme,
        reducedMotion: 'reduce',
      });
      const page = await context.newPage();
      const take = async (path: string) => {
        await page.goto(`${origin}${path}`);
        await settled(page);
        const name = `${path === '/' ? 'home' : path.slice(1).replaceAll(/[^\w-]+/g, '-')}-${width}-${colorScheme}.png`;
        await page.screenshot({ path: join(dir, name) });
      };
      const wanted = paths.length === 0 ? ALL_PATHS : paths;
      for (const path of wanted.filter((one) => one.startsWith('/sign'))) await take(path);
      await page.goto(`${origin}/sign-in`);
      await signIn(page, email, password);
      await page.waitForURL(`${origin}/`);
      for (const path of wanted.filter((one) => !one.startsWith('/sign'))) await take(path);
      await context.close();
    }
  }
} finally {
  await browser.close();
}
console.log(dir);
