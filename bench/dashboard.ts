import { COMMAND_LINE } from '../src/audit/actor.ts';
import type { ChannelContext } from '../src/channel/context.ts';
import { rawSql, sql } from '../src/db/sql.ts';
import { createUser } from '../src/dealers/users/users.ts';
import { openStage } from './processes.ts';
import { makeShop, median, openBackDoor, type Shop } from './shop.ts';
import { printTable } from './table.ts';

const FEW = 1_000;
const MANY = 100_000;
const SAMPLES = 60;
const WARM_UP = 5;
const TOGGLES = 100;
const RATIO_WANTED = 3;
const TOGGLE_WANTED_MS = 50;
const PASSWORD = 'a long bench password';

/** What a dealer does all day in the lists. A brand is a quarter of the stock, as is its word. */
const READS: readonly [what: string, path: string][] = [
  ['list, newest first', '/stock?kind=listing'],
  ['list by price', '/stock?kind=listing&sort=price'],
  ['list by title', '/stock?kind=listing&sort=title'],
  ['search, a common word', '/stock?kind=listing&q=rolex'],
  ['search, a common word, by price', '/stock?kind=listing&q=rolex&sort=-price'],
  ['search, two words', '/stock?kind=listing&q=rolex+submariner'],
  ['search, one stock number', '/stock?kind=listing&q=0000042'],
  ['search, nothing', '/stock?kind=listing&q=zzzz'],
  ['filter by status', '/stock?kind=listing&status=in_stock'],
  ['filter by a status that nothing has', '/stock?kind=listing&status=reserved'],
  ['filter by brand', '/stock?kind=listing&brand=Rolex'],
  ['filter by channel', '/stock?kind=listing&integration_id=CHANNEL'],
  ['filter: on no channel', '/stock?kind=listing&integration_id=none'],
  ['filter: needs work', '/stock?kind=listing&needs_work=yes'],
  ['filter by a narrow price band', '/stock?kind=listing&price_from=500000&price_to=520000'],
  ['filter by a wide price band', '/stock?kind=listing&price_from=500000&price_to=2000000'],
  ['filter by brand and price, by price', '/stock?kind=listing&brand=Rolex&price_from=500000&sort=price'],
  ['filters and counts of the tabs', '/stock/choices?kind=listing'],
  ['palette', '/search?q=rolex'],
  ['item page', '/items/ITEM'],
];

/** The dashboard's lists over few and many items, and a toggle, as a browser asks for them: signed in, over HTTP. */
export async function benchDashboard(): Promise<void> {
  const stage = await openStage();
  try {
    const service = await stage.startService();
    const { link, context } = await openBackDoor(service);
    console.log('Generating 1,000 and 100,000 listings …');
    const few = await openShop(service.port, context, FEW);
    const many = await openShop(service.port, context, MANY);
    // As autovacuum leaves a table that has been at rest for some minutes.
    await context.db.query(rawSql('vacuum (analyze) items, photos, publications, channel_documents'));
    await compareReads(few, many);
    await measureToggle(context, many);
    await link.close();
  } finally {
    await stage.end();
  }
}

type OpenShop = Shop & { ask: (method: string, path: string, body?: unknown) => Promise<string> };

async function openShop(port: number, context: ChannelContext, count: number): Promise<OpenShop> {
  const shop = await makeShop(context, count);
  const origin = `http://localhost:${port}`;
  const email = `bench${count}@dealer.example`;
  const { organizationId } = shop;
  await createUser(context.db, COMMAND_LINE, {
    organizationId,
    name: 'Bench',
    email,
    password: PASSWORD,
    role: 'owner',
  });
  let cookie = '';
  const send = async (method: string, path: string, body?: unknown) =>
    await fetch(`http://127.0.0.1:${port}/api/dashboard${path}`, {
      method,
      headers: { origin, cookie, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const answer = await send('POST', '/session', { email, password: PASSWORD });
  cookie = answer.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');
  return {
    ...shop,
    async ask(method, path, body) {
      const response = await send(method, path, body);
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
      return text;
    },
  };
}

async function compareReads(few: OpenShop, many: OpenShop): Promise<void> {
  const rows: string[][] = [];
  for (const [what, path] of READS) {
    const times: [few: number[], many: number[]] = [[], []];
    // In turn, so that a busy moment of the machine hits both.
    for (let sample = -WARM_UP; sample < SAMPLES; sample++) {
      for (const [index, shop] of [few, many].entries()) {
        const startedAt = performance.now();
        await shop.ask('GET', path.replace('CHANNEL', shop.integrationId).replace('ITEM', shop.listingIds[0] ?? ''));
        if (sample >= 0) times[index]?.push(performance.now() - startedAt);
      }
    }
    const [ofFew, ofMany] = times.map(median) as [number, number];
    const ratio = ofMany / ofFew;
    const verdict = ratio <= RATIO_WANTED ? '' : 'over';
    rows.push([what, `${ofFew.toFixed(1)} ms`, `${ofMany.toFixed(1)} ms`, ratio.toFixed(2), verdict]);
  }
  printTable(
    `Reads of the dashboard, one at a time, median of ${SAMPLES}; a ratio of at most ${RATIO_WANTED} is wanted`,
    ['what', '1,000 items', '100,000 items', 'ratio', ''],
    rows,
  );
}

/** From the request that a click sends to its answer, which comes after the commit that holds the event. */
async function measureToggle(context: ChannelContext, shop: OpenShop): Promise<void> {
  const times: number[] = [];
  const countEvents = async () => {
    const [row] = await context.db.query<{ count: number }>(sql`
      select count(*)::integer as count from events where integration_id = ${shop.integrationId}`);
    return row?.count ?? 0;
  };
  const before = await countEvents();
  for (const itemId of shop.listingIds.slice(0, TOGGLES)) {
    const startedAt = performance.now();
    await shop.ask('PUT', `/stock/${itemId}/channels/${shop.integrationId}`, { is_on: false });
    times.push(performance.now() - startedAt);
  }
  const events = (await countEvents()) - before;
  printTable(
    `A toggle with 100,000 items, from the request to the committed event; p50 below ${TOGGLE_WANTED_MS} ms is wanted`,
    ['toggles', 'events', 'p50', 'slowest'],
    [[String(times.length), String(events), `${median(times).toFixed(1)} ms`, `${Math.max(...times).toFixed(1)} ms`]],
  );
}
