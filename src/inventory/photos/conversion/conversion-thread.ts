import { parentPort } from 'node:worker_threads';
import { ownBytes } from '../../../concurrency/own-bytes.ts';
import type { ThreadAnswer, ThreadMessage, ThreadWork } from './converter.ts';
import { PictureFault, PictureTooComplexError } from './picture-faults.ts';
import { convertInProcess } from './picture-processes.ts';

/** By the id of the work: ends it when nobody wants the picture any more. */
const leaving = new Map<number, AbortController>();

parentPort?.on('message', (message: ThreadMessage) => {
  if ('isLeft' in message) leaving.get(message.id)?.abort(new Error('nobody wants the picture any more'));
  else void run(message);
});

async function run({ id, ...work }: ThreadWork): Promise<void> {
  const left = new AbortController();
  leaving.set(id, left);
  try {
    const { bytes, width, height } = await convertInProcess({ ...work, signal: left.signal });
    const own = ownBytes(bytes);
    send({ id, size: { width, height }, bytes: own }, [own.buffer]);
  } catch (error) {
    send({ id, fault: faultOf(error), message: error instanceof Error ? error.message : String(error) });
  } finally {
    leaving.delete(id);
  }
}

function faultOf(error: unknown): 'too complex' | 'picture' | 'process' {
  if (error instanceof PictureTooComplexError) return 'too complex';
  return error instanceof PictureFault ? 'picture' : 'process';
}

function send(answer: ThreadAnswer, moved: ArrayBuffer[] = []): void {
  parentPort?.postMessage(answer, moved);
}
