import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { BYTES_PER_MB } from '../../../contract/limits.ts';
import type { Answer, Conversion, Converted, Job } from './conversion-messages.ts';
import { framesOf, writeFrame } from './frames.ts';
import { PictureFault, PictureTooComplexError } from './picture-faults.ts';

export type Work = {
  conversion: Conversion;
  bytes: Uint8Array;
  /** What the picture was counted for, without its file. */
  memoryBytes: number;
  cpuMs: number;
  /** Ends the work when nobody wants the picture any more. */
  signal: AbortSignal;
};

type Pending = { resolve(converted: Converted): void; reject(error: Error): void };
type PictureProcess = {
  child: ChildProcessByStdio<Writable, Readable, null>;
  /** Each process works on one picture, so one that takes too much ends no other. */
  job: Pending | null;
  /** Why we ended it. */
  failure: Error | null;
  retirement: NodeJS.Timeout | undefined;
};

const PROGRAM = join(import.meta.dirname, 'conversion-process.ts');
/** It takes 80 MB of memory. */
const IDLE_LIMIT_MS = 60_000;
/** The process itself, and what the picture before has left to it. */
const PROCESS_BYTES = 288 * BYTES_PER_MB;
/** Memory that was freed and not given back, and what differs from picture to picture. */
const MEMORY_SLACK = 1.25;
/** On a machine that is busy, pictures wait for the processor. Past that the process hangs. */
const JOB_LIMIT_MS = 240_000;
/** Small pictures are done by then; to end the process for each of them would cost more. */
const ABANDONED_LIMIT_MS = 1_000;
/**
 * Each thread that decodes would keep memory for itself, also what it has freed: with ten photos of 12 megapixels at once the
 * process had 300 MB more. glibc reads this at the start; elsewhere it does nothing.
 */
const ENVIRONMENT = { MALLOC_ARENA_MAX: '2' };

/** By which the system ends a program that went wrong in itself. Whatever else ends one does so from outside. */
const CRASHES: ReadonlySet<NodeJS.Signals> = new Set(['SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGFPE', 'SIGABRT', 'SIGTRAP']);

const idle: PictureProcess[] = [];

/**
 * Has a picture converted by a process of its own, which is started when it is needed. There it waits for the processor behind
 * everything else, and a file that crashes the decoder takes nothing else with it. The process gets neither the service's
 * settings nor its secrets.
 */
export async function convertInProcess({ conversion, bytes, memoryBytes, cpuMs, signal }: Work): Promise<Converted> {
  const worker = idle.pop() ?? start();
  clearTimeout(worker.retirement);
  const end = (failure: Error) => {
    worker.failure ??= failure;
    worker.child.kill('SIGKILL');
  };
  const deadline = setTimeout(end, JOB_LIMIT_MS, new PictureTooComplexError('the picture took too long'));
  let leaving: NodeJS.Timeout | undefined;
  const onAbort = () => {
    leaving = setTimeout(end, ABANDONED_LIMIT_MS, signal.reason);
  };
  signal.addEventListener('abort', onAbort);
  const residentBytes = PROCESS_BYTES + MEMORY_SLACK * memoryBytes + 2 * bytes.byteLength;
  try {
    return await new Promise<Converted>((resolve, reject) => {
      worker.job = { resolve, reject };
      writeFrame(worker.child.stdin, { conversion, limits: { residentBytes, cpuMs } } satisfies Job, bytes);
    });
  } finally {
    clearTimeout(deadline);
    clearTimeout(leaving);
    signal.removeEventListener('abort', onAbort);
  }
}

function start(): PictureProcess {
  const child = spawn(process.execPath, [PROGRAM], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: ENVIRONMENT,
  });
  const started: PictureProcess = { child, job: null, failure: null, retirement: undefined };
  const onEnd = (error: Error) => {
    forget(started);
    started.job?.reject(started.failure ?? error);
    started.job = null;
  };
  child.on('error', onEnd);
  // Nobody is given one that is dead.
  child.on('exit', () => forget(started));
  // Not its exit: what it has written before is read first.
  child.on('close', (code, signal) => {
    const message = `the process of pictures ended (${signal ?? code})`;
    onEnd(signal !== null && CRASHES.has(signal) ? new PictureFault(message) : new Error(message));
  });
  // What can't be written is answered by the end.
  child.stdin.on('error', () => {});
  void readAnswers(started);
  return started;
}

async function readAnswers(worker: PictureProcess): Promise<void> {
  try {
    for await (const { head, bytes } of framesOf<Answer>(worker.child.stdout)) settle(worker, head, bytes);
  } catch {
    // Its end says why.
  }
}

function settle(worker: PictureProcess, { size, fault, isTooMuch, isLast }: Answer, bytes: Buffer): void {
  const { child, job } = worker;
  // It ends already, so it takes no further picture, and its end says why.
  if (worker.failure !== null) return;
  if (isTooMuch) {
    // The caller hears of it when the memory is free again.
    worker.failure = new PictureTooComplexError('the picture took more memory or time than it may');
    child.kill('SIGKILL');
    return;
  }
  worker.job = null;
  if (isLast) retire(worker);
  else {
    worker.retirement = setTimeout(() => retire(worker), IDLE_LIMIT_MS);
    idle.push(worker);
  }
  if (size === undefined) job?.reject(new PictureFault(fault));
  else job?.resolve({ ...size, bytes });
}

/** It ends with its input. The next picture starts another one. */
function retire(worker: PictureProcess): void {
  forget(worker);
  worker.child.stdin.end();
}

function forget(worker: PictureProcess): void {
  clearTimeout(worker.retirement);
  const index = idle.indexOf(worker);
  if (index >= 0) idle.splice(index, 1);
}
