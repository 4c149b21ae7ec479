import { readFileSync } from 'node:fs';
import { Agent, request } from 'undici';

/**
 * Sends test pings at an even rate, whether or not the ones before are answered, and notes when each began and when it was
 * acknowledged.
 *
 * Runs as a process of its own: node bench/load/paced-pings.ts <job file>; prints one line of JSON.
 */
export type PacedJob = { port: number; apiKeys: string[]; perSecond: number; seconds: number };
/** Times since 1970, in milliseconds with fractions. */
export type Paced = { id: string; startedMs: number; acknowledgedMs: number };

const CONNECTIONS = 64;
/** The first requests open connections, prepare statements and compile code. */
const WARM_UP_SHARE = 0.1;

const [jobFile = ''] = process.argv.slice(2);
if (jobFile !== '') console.log(JSON.stringify(await runPaced(JSON.parse(readFileSync(jobFile, 'utf8')))));

async function runPaced({ port, apiKeys, perSecond, seconds }: PacedJob): Promise<Paced[]> {
  const agent = new Agent({ connections: CONNECTIONS });
  const count = perSecond * seconds;
  const beganMs = performance.now();
  const sent = Array.from({ length: count }, async (_, index) => {
    const dueMs = beganMs + (index * 1000) / perSecond;
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueMs - performance.now())));
    return await ping(agent, port, apiKeys[index % apiKeys.length] ?? '');
  });
  const all = await Promise.all(sent);
  await agent.close();
  return all.slice(Math.floor(count * WARM_UP_SHARE));
}

async function ping(dispatcher: Agent, port: number, apiKey: string): Promise<Paced> {
  const startedMs = now();
  const answer = await request(`http://127.0.0.1:${port}/api/v1/test/webhook_ping`, {
    method: 'POST',
    dispatcher,
    body: '{}',
    headers: {
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      'idempotency-key': crypto.randomUUID(),
    },
  });
  const { event_id: id } = (await answer.body.json()) as { event_id: string };
  return { id, startedMs, acknowledgedMs: now() };
}

function now(): number {
  return performance.timeOrigin + performance.now();
}
