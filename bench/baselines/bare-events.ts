import { readFileSync } from 'node:fs';
import pg from 'pg';
import { sessionOptions } from '../../src/db/connection-settings.ts';
import type { Paced } from '../load/paced-pings.ts';
import { createSignedPoster } from './signed-post.ts';

/**
 * The least that can bring an event from a program to a receiver without losing it: insert a row, notify in the same commit,
 * and post the row, signed, when the notice comes. No HTTP request, no key, no queue, no outcome.
 *
 * Runs as a process of its own: node bench/baselines/bare-events.ts <job file>; prints one line of JSON.
 */
export type BareJob = { databaseUrl: string; sink: string; perSecond: number; seconds: number };

const CHANNEL = 'bench_bare_events';
const WARM_UP_SHARE = 0.1;
const BODY = JSON.stringify({ padding: 'x'.repeat(285) });

const [jobFile = ''] = process.argv.slice(2);
const { databaseUrl, sink, perSecond, seconds }: BareJob = JSON.parse(readFileSync(jobFile, 'utf8'));

const pool = new pg.Pool({ connectionString: databaseUrl, max: 16, options: sessionOptions() });
const listener = new pg.Client({ connectionString: databaseUrl });
const poster = createSignedPoster(sink);
await pool.query('create table if not exists bare_events (id text primary key, body text not null)');
await listener.connect();
const posts: Promise<void>[] = [];
listener.on('notification', ({ payload = '' }) => posts.push(poster.post({ eventId: payload, body: BODY })));
await listener.query(`listen ${CHANNEL}`);

const count = perSecond * seconds;
const beganMs = performance.now();
const sent = Array.from({ length: count }, async (_, index): Promise<Paced> => {
  const dueMs = beganMs + (index * 1000) / perSecond;
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueMs - performance.now())));
  const startedMs = performance.timeOrigin + performance.now();
  const id = `evt_bare_${index}`;
  await pool.query({
    name: 'insert',
    text: `with made as (insert into bare_events (id, body) values ($1, $2) returning id) select pg_notify('${CHANNEL}', id) from made`,
    values: [id, BODY],
  });
  return { id, startedMs, acknowledgedMs: performance.timeOrigin + performance.now() };
});
const all = await Promise.all(sent);
while (posts.length < count) await new Promise((resolve) => setTimeout(resolve, 20));
await Promise.all(posts);
console.log(JSON.stringify(all.slice(Math.floor(count * WARM_UP_SHARE))));
await pool.query('drop table bare_events');
await Promise.all([pool.end(), listener.end(), poster.close()]);
