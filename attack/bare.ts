import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { MeanAnswer } from './client.ts';

/** A harmless server beside the service, to which an attack can be sent instead. */
export type BareServer = {
  origin: URL;
  /** From now on it answers as the service did on average. */
  answerLike(answer: MeanAnswer): Promise<void>;
  stop(): void;
};

const ANSWER_LIMIT_MS = 30_000;

export async function startBareServer(): Promise<BareServer> {
  const child = fork(new URL('./bare-server.ts', import.meta.url), { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const message = async () => {
    const [received] = await once(child, 'message', { signal: AbortSignal.timeout(ANSWER_LIMIT_MS) });
    return received as unknown;
  };
  try {
    const port = await message();
    return {
      origin: new URL(`http://127.0.0.1:${port}`),
      async answerLike(answer) {
        child.send(answer);
        await message();
      },
      stop: () => void child.kill(),
    };
  } catch (error) {
    child.kill();
    throw error;
  }
}
