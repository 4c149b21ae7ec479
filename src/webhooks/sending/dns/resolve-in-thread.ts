import type { LookupAddress } from 'node:dns';
import { Worker } from 'node:worker_threads';
import type { TokenBuckets } from '../../../concurrency/limits/token-buckets.ts';
import { receiverTimes } from '../receiver-time.ts';
import type { Resolve } from './resolve.ts';

/** The system's name servers and a timeout that fits the deadline of an attempt, unless a test passes its own. */
export type DnsThreadOptions = { servers?: string[]; timeoutMs?: number };
export type DnsQuestion = { id: number; hostname: string };
export type DnsAnswer = {
  id: number;
  /** What its parsing took. */
  cpuMs: number;
  addresses: LookupAddress[];
  error: { code: string; message: string } | null;
};

/** The thread ended before it answered. That says nothing about the name. */
export class DnsThreadError extends Error {
  readonly code = 'ERR_DNS_THREAD';
}

export type ThreadResolver = { resolve: Resolve; end(): Promise<void> };

type Pending = { resolve(answer: DnsAnswer): void; reject(error: Error): void; limit: NodeJS.Timeout };
type DnsThread = { worker: Worker; pending: Map<number, Pending> };

const DNS_TIMEOUT_MS = 2_000;
/** The thread gives up by itself much sooner; one that does not hangs. */
const ANSWER_LIMIT_MS = 20_000;
/** Usual lookups take half a millisecond, and ten in a thread that has just been started. */
const FREE_MS = 5;
const THREAD_MEMORY_MB = 64;

/**
 * Asks the name servers and nobody else: neither the hosts file nor search domains lead into our own network. They are asked in
 * a thread, which is started when it is needed, so no answer is parsed on the event loop. The CPU time that a long answer takes
 * there is charged to the dealer.
 */
export function resolveInThread(
  { servers = [], timeoutMs = DNS_TIMEOUT_MS }: DnsThreadOptions = {},
  { times = receiverTimes, answerLimitMs = ANSWER_LIMIT_MS }: { times?: TokenBuckets; answerLimitMs?: number } = {},
): ThreadResolver {
  let running: DnsThread | null = null;
  let lastId = 0;

  function start(): DnsThread {
    const worker = new Worker(new URL('./dns-thread.ts', import.meta.url), {
      workerData: { servers, timeoutMs } satisfies DnsThreadOptions,
      // It needs neither the settings of the service nor its secrets.
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: THREAD_MEMORY_MB },
    });
    const started: DnsThread = { worker, pending: new Map() };
    worker.on('message', (answers: DnsAnswer[]) => {
      for (const answer of answers) take(started, answer.id)?.resolve(answer);
    });
    worker.on('error', () => fail(started));
    worker.on('exit', () => fail(started));
    worker.unref();
    return started;
  }

  /** The next lookup starts another thread. */
  function fail(thread: DnsThread): void {
    if (running === thread) running = null;
    for (const id of thread.pending.keys()) take(thread, id)?.reject(new DnsThreadError('the lookup was interrupted'));
  }

  function take(thread: DnsThread, id: number): Pending | undefined {
    const found = thread.pending.get(id);
    thread.pending.delete(id);
    clearTimeout(found?.limit);
    // Only a thread that somebody waits for keeps the process alive.
    if (thread.pending.size === 0) thread.worker.unref();
    return found;
  }

  async function terminate(thread: DnsThread): Promise<void> {
    fail(thread);
    await thread.worker.terminate();
  }

  async function ask(hostname: string): Promise<DnsAnswer> {
    running ??= start();
    const thread = running;
    lastId += 1;
    const id = lastId;
    return await new Promise((resolve, reject) => {
      const limit = setTimeout(() => void terminate(thread), answerLimitMs).unref();
      thread.pending.set(id, { resolve, reject, limit });
      thread.worker.ref();
      thread.worker.postMessage({ id, hostname } satisfies DnsQuestion);
    });
  }

  return {
    async resolve(hostname, dealer) {
      const { addresses, error, cpuMs } = await ask(hostname);
      if (cpuMs > FREE_MS) times.spend(dealer, cpuMs);
      if (error !== null) throw Object.assign(new Error(error.message), { code: error.code });
      return addresses;
    },
    async end() {
      if (running !== null) await terminate(running);
    },
  };
}
