import { rawSql } from '../src/db/sql.ts';
import { fillEvents, fillOrders, fillRequests, fillStock } from '../test/harness/database/many-rows.ts';
import { compareReads, type Read } from './dashboard/compare-reads.ts';
import { type BenchDealer, openDealer } from './dashboard/dealer.ts';
import { measureImport } from './dashboard/import.ts';
import { deliveryReads, eventReads, orderReads, requestReads, stockReads } from './dashboard/list-reads.ts';
import { measureToggle } from './dashboard/toggle.ts';
import { openStage } from './processes.ts';
import { openBackDoor } from './shop.ts';

const FEW = 1_000;
const MANY_ITEMS = 100_000;
const MANY_ORDERS = 100_000;
const MANY_EVENTS = 1_000_000;

type Dealers = { few: BenchDealer; many: BenchDealer };
type Part = {
  fill?: (dealer: BenchDealer, isMany: boolean) => Promise<void>;
  run: (dealers: Dealers) => Promise<void>;
};

/** Each list over few and many rows; then what a dealer does with them. Later parts use the stock of the first. */
const PARTS: Record<string, Part> = {
  stock: {
    fill: (dealer, isMany) => fillStock(dealer.context.db, dealer, isMany ? MANY_ITEMS : FEW),
    run: compare('stock', stockReads, MANY_ITEMS),
  },
  orders: {
    fill: (dealer, isMany) => fillOrders(dealer.context.db, dealer, isMany ? MANY_ORDERS : FEW),
    run: compare('orders', orderReads, MANY_ORDERS),
  },
  deliveries: {
    fill: (dealer, isMany) => fillEvents(dealer.context.db, dealer, isMany ? MANY_EVENTS : FEW),
    async run(dealers) {
      await compare('deliveries', deliveryReads, MANY_EVENTS)(dealers);
      await compare('events', eventReads, MANY_EVENTS)(dealers);
    },
  },
  requests: {
    fill: (dealer, isMany) => fillRequests(dealer.context.db, dealer, isMany ? MANY_EVENTS : FEW),
    run: compare('API requests', requestReads, MANY_EVENTS),
  },
  toggle: { run: ({ many }) => measureToggle(many) },
  import: { run: ({ many }) => measureImport(many) },
};

/**
 * `npm run bench dashboard [part …]`: the dashboard's lists over few and many rows, a toggle and an import, as a browser asks
 * for them: signed in, over HTTP. Without parts, all of them.
 */
export async function benchDashboard(wanted: string[]): Promise<void> {
  const unknown = wanted.find((name) => PARTS[name] === undefined);
  if (unknown !== undefined) throw new Error(`there is no part ${unknown}; parts are ${Object.keys(PARTS).join(', ')}`);
  const startedAt = performance.now();
  const stage = await openStage();
  try {
    const service = await stage.startService();
    const { link, context } = await openBackDoor(service);
    const dealers = {
      few: await openDealer(service.port, context, 'few'),
      many: await openDealer(service.port, context, 'many'),
    };
    for (const [name, part] of Object.entries(PARTS)) {
      const isWanted = wanted.length === 0 || wanted.includes(name);
      // The other lists show items.
      if (isWanted || name === 'stock') await fill(name, part, dealers);
      if (isWanted) await part.run(dealers);
    }
    await link.close();
  } finally {
    await stage.end();
  }
  console.log(`\nThe whole run took ${secondsSince(startedAt)} s.`);
}

async function fill(name: string, part: Part, { few, many }: Dealers): Promise<void> {
  if (part.fill === undefined) return;
  const startedAt = performance.now();
  await part.fill(few, false);
  await part.fill(many, true);
  // What filling left to write must not be written while the lists are measured.
  await few.context.db.query(rawSql('checkpoint'));
  console.log(`\nFilled ${name} in ${secondsSince(startedAt)} s.`);
}

function compare(what: string, readsOf: (dealer: BenchDealer) => Promise<Read[]>, manyRows: number): Part['run'] {
  return async ({ few, many }) => {
    const ofFew = { dealer: few, reads: await readsOf(few), size: FEW };
    await compareReads(what, ofFew, { dealer: many, reads: await readsOf(many), size: manyRows });
  };
}

function secondsSince(startedAt: number): string {
  return ((performance.now() - startedAt) / 1000).toFixed(0);
}
