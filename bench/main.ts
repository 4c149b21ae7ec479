import { benchDashboard } from './dashboard.ts';
import { benchEvents } from './events.ts';
import { benchReads } from './reads.ts';
import { benchRestarts } from './restarts.ts';
import { benchProcesses } from './several-processes.ts';
import { benchWebhooks } from './webhooks.ts';
import { benchWrites } from './writes.ts';

/** `npm run bench <name>`: figures as ratios against the bare limit of the same machine in the same run. */
const benches: Record<string, (args: string[]) => Promise<void>> = {
  reads: benchReads,
  writes: benchWrites,
  webhooks: benchWebhooks,
  events: benchEvents,
  restarts: benchRestarts,
  dashboard: benchDashboard,
  processes: benchProcesses,
};

const [name = '', ...args] = process.argv.slice(2);
const bench = benches[name];
if (bench === undefined) {
  console.error(`usage: npm run bench <${Object.keys(benches).join('|')}>`);
  process.exit(2);
}
await bench(args);
