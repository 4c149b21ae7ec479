import { readFileSync } from 'node:fs';
import { CONNECTIONS, createSignedPoster } from './signed-post.ts';

/**
 * The bare limit: a loop that signs and posts bodies that it has in memory, and does nothing else.
 *
 * Runs as a process of its own: node bench/baselines/bare-poster.ts <url> <file with a body on each line>.
 */
const [url = '', file = ''] = process.argv.slice(2);
const bodies = readFileSync(file, 'utf8').split('\n').filter(Boolean);
const poster = createSignedPoster(url);
let next = 0;

async function loop(): Promise<void> {
  for (let body = bodies[next++]; body !== undefined; body = bodies[next++]) {
    await poster.post({ eventId: 'evt_bare', body });
  }
}

await Promise.all(Array.from({ length: CONNECTIONS }, loop));
console.log(JSON.stringify({ posted: bodies.length }));
await poster.close();
