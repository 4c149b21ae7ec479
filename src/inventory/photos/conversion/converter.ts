import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { type Answer, type Conversion, type Converted, type Job, PICTURE_SECONDS_MAX } from './conversion-messages.ts';
import { framesOf, writeFrame } from './frames.ts';

/** The picture is at fault, and not the process. */
export class PictureFault extends Error {}

type Pending = { resolve(converted: Converted): void; reject(error: Error): void; deadline: NodeJS.Timeout };
type PictureProcess = {
  child: ChildProcessByStdio<Writable, Readable, null>;
  pending: Map<number, Pending>;
  idle: NodeJS.Timeout | undefined;
};

const PROGRAM = join(import.meta.dirname, 'conversion-process.ts');
/** It takes 80 MB of memory. */
const IDLE_LIMIT_MS = 60_000;
/**
 * Each thread that decodes would keep memory for itself, also what it has freed: with ten photos of 12 megapixels at once the
 * process had 300 MB more. glibc reads this at the start; elsewhere it does nothing.
 */
const ENVIRONMENT = { MALLOC_ARENA_MAX: '2' };
/** Each step on a picture has a limit of its own; a process that outlasts it hangs. */
const JOB_LIMIT_MS = 2 * PICTURE_SECONDS_MAX * 1_000;

let running: PictureProcess | null = null;
let lastId = 0;

/**
 * Has pictures converted by a process of its own, which is started when it is needed. There they wait for the processor behind
 * everything else, and a file that crashes the decoder takes no request with it. The process gets neither the service's
 * settings nor its secrets.
 */
export async function convertPhoto(conversion: Conversion, bytes: Uint8Array): Promise<Converted> {
  running ??= start();
  const { child, pending, idle } = running;
  clearTimeout(idle);
  if (pending.size === 0) keepAlive(child, true);
  lastId += 1;
  const id = lastId;
  return await new Promise((resolve, reject) => {
    const deadline = setTimeout(() => child.kill('SIGKILL'), JOB_LIMIT_MS).unref();
    pending.set(id, { resolve, reject, deadline });
    writeFrame(child.stdin, { id, conversion } satisfies Job, bytes);
  });
}

function start(): PictureProcess {
  const child = spawn(process.execPath, [PROGRAM], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: ENVIRONMENT,
  });
  const started: PictureProcess = { child, pending: new Map(), idle: undefined };
  const end = (error: Error) => {
    if (running === started) running = null;
    clearTimeout(started.idle);
    for (const { reject, deadline } of started.pending.values()) {
      clearTimeout(deadline);
      reject(error);
    }
    started.pending.clear();
  };
  child.on('error', end);
  child.on('exit', (code, signal) => end(new Error(`the process of pictures ended (${signal ?? code})`)));
  // What can't be written is answered by the exit.
  child.stdin.on('error', () => {});
  void readAnswers(started);
  return started;
}

async function readAnswers(process: PictureProcess): Promise<void> {
  try {
    for await (const { head, bytes } of framesOf<Answer>(process.child.stdout)) settle(process, head, bytes);
  } catch {
    // Its exit says why.
  }
}

function settle(process: PictureProcess, { id, size, fault }: Answer, bytes: Buffer): void {
  const { child, pending } = process;
  const job = pending.get(id);
  if (job === undefined) return;
  pending.delete(id);
  clearTimeout(job.deadline);
  if (size === undefined) job.reject(new PictureFault(fault));
  else job.resolve({ ...size, bytes });
  if (pending.size > 0) return;
  keepAlive(child, false);
  process.idle = setTimeout(() => retire(process), IDLE_LIMIT_MS).unref();
}

/** It ends with its input. The next picture starts another one. */
function retire(process: PictureProcess): void {
  if (running === process) running = null;
  process.child.stdin.end();
}

/** Whether this process waits for that one before it ends by itself. */
function keepAlive(child: PictureProcess['child'], isNeeded: boolean): void {
  for (const handle of [child, child.stdin as Socket, child.stdout as Socket]) {
    if (isNeeded) handle.ref();
    else handle.unref();
  }
}
