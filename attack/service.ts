import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../bench/processes.ts';
import { SELF_SIGNED } from '../test/harness/servers/self-signed.ts';
import type { Sample } from './monitor.ts';

/** The service under attack: a process of its own on a fresh data folder. */
export type AttackedService = {
  port: number;
  env: Record<string, string>;
  /** What happened in it since the last sample. */
  sample(): Promise<Sample>;
  stop(): Promise<void>;
};

const ROOT_DIR = new URL('../', import.meta.url).pathname;
const SECRET_KEYS = 'the secret key of a service that is attacked';
const START_LIMIT_MS = 120_000;
const STOP_LIMIT_MS = 30_000;
const POLL_MS = 100;

export async function startAttackedService(): Promise<AttackedService> {
  const dataDir = await mkdtemp(join(tmpdir(), 'crownwheel-attack-'));
  const certificateDir = await mkdtemp(join(tmpdir(), 'crownwheel-attack-'));
  const port = await freePort();
  const env = { PORT: String(port), DATA_DIR: dataDir, DEMO: 'off', LOG_LEVEL: 'fatal', SECRET_KEYS };
  // A receiver with a certificate is nothing special.
  const trusted = join(certificateDir, 'trusted.pem');
  await writeFile(trusted, SELF_SIGNED.cert);
  const child = spawn(process.execPath, ['--import', './attack/monitor.ts', 'src/main.ts'], {
    cwd: ROOT_DIR,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    // The tests' cache is for code that is compiled without the flags of the service, which has a cache of its own.
    env: { ...process.env, NODE_COMPILE_CACHE: undefined, NODE_EXTRA_CA_CERTS: trusted, ...env },
  });
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;

  async function stop(): Promise<void> {
    if (!hasEnded()) {
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      await Promise.race([exit, sleep(STOP_LIMIT_MS, undefined, { ref: false })]);
      if (!hasEnded()) child.kill('SIGKILL');
    }
    for (const dir of [dataDir, certificateDir]) {
      await rm(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    }
  }

  try {
    const giveUpAt = Date.now() + START_LIMIT_MS;
    while (!(await answers(port))) {
      if (hasEnded() || Date.now() > giveUpAt) throw new Error('the service to attack did not start');
      await sleep(POLL_MS);
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    port,
    env,
    async sample() {
      if (hasEnded()) throw new Error('the service ended under attack');
      child.send('sample');
      const [sample] = (await once(child, 'message', { signal: AbortSignal.timeout(START_LIMIT_MS) })) as [Sample];
      return sample;
    },
    stop,
  };
}

async function answers(port: number): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/ready`);
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}
