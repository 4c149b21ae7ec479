import type { Writable } from 'node:stream';
import { StartError } from '../db/start-error.ts';

/** What a command prints, and whether all of it arrived. */
export type StandardOutput = {
  write(text: string): void;
  /** Resolves when everything is written; fails if it can't be, as on a full disk. */
  written(): Promise<void>;
};

/** A reader that has seen enough, such as "head", closes the pipe: that is no failure. */
export function standardOutput(stream: Writable): StandardOutput {
  let failure: NodeJS.ErrnoException | null = null;
  stream.on('error', (error) => {
    failure ??= error;
  });
  return {
    write: (text) => void stream.write(text),
    async written() {
      // The stream calls back in the order of its writes, after it has told of an error.
      await new Promise<void>((resolve) => stream.write('', () => resolve()));
      if (failure === null || failure.code === 'EPIPE') return;
      throw new StartError(
        `the output could not be written (${failure.message}); if the command changes something, that may be done`,
      );
    },
  };
}
