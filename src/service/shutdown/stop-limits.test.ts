import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { it } from 'node:test';
import { EXIT_TIMEOUT_MS, STOP_TIMEOUT_MS } from '../../db/embedded/embedded-server.ts';
import { CLOSE_LIMIT_MS } from '../connect.ts';
import { STOP_SPARE_MS } from '../processes/supervisor.ts';
import { PATIENCE_MS } from './end-process.ts';
import { FORCE_LIMIT_MS, REQUESTS_LIMIT_MS } from './graceful-shutdown.ts';

it('a stop ends within the time that the README tells operators to give it', async () => {
  const readme = await readFile(new URL('../../../README.md', import.meta.url), 'utf8');
  const [, external, embedded] =
    /`DRAIN_SECONDS` and (\d+) seconds before a kill, or (\d+) with the embedded database/.exec(
      readme.replaceAll(/\s+/g, ' '),
    ) ?? [];
  const alone = REQUESTS_LIMIT_MS + FORCE_LIMIT_MS + CLOSE_LIMIT_MS;
  assert.ok(alone < Number(external) * 1_000, `${alone} ms without the embedded database`);
  const supervised = REQUESTS_LIMIT_MS + STOP_SPARE_MS + CLOSE_LIMIT_MS;
  const all = Math.max(alone, supervised) + STOP_TIMEOUT_MS + EXIT_TIMEOUT_MS + PATIENCE_MS;
  assert.ok(all < Number(embedded) * 1_000, `${all} ms with the embedded database`);
});
