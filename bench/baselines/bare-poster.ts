import { readFileSync } from 'node:fs';
import { Agent, request } from 'undici';
import { signature } from '../../src/webhooks/sending/signature.ts';

/**
 * The bare limit: a loop that signs and posts bodies that it has in memory, and does nothing else.
 *
 * Runs as a process of its own: node bench/baselines/bare-poster.ts <url> <file with a body on each line>.
 */
const CONNECTIONS = 64;
const SECRET = `whsec_${'x'.repeat(32)}`;

const [url = '', file = ''] = process.argv.slice(2);
const bodies = readFileSync(file, 'utf8').split('\n').filter(Boolean);
const agent = new Agent({ connections: CONNECTIONS, allowH2: false });
let next = 0;

async function loop(): Promise<void> {
  for (let body = bodies[next++]; body !== undefined; body = bodies[next++]) {
    const response = await request(url, {
      method: 'POST',
      dispatcher: agent,
      body,
      headers: {
        'Content-Type': 'application/json',
        'X-SVC-Signature': signature([SECRET], Math.floor(Date.now() / 1000), body),
        'X-SVC-Event-Id': 'evt_bare',
        'X-SVC-Event-Type': 'listing.updated',
        'X-SVC-Delivery-Id': 'dlv_bare',
        'X-SVC-Delivery-Attempt': '1',
      },
    });
    await response.body.dump();
  }
}

await Promise.all(Array.from({ length: CONNECTIONS }, loop));
console.log(JSON.stringify({ posted: bodies.length }));
await agent.close();
