/** Lets so many tasks run at once and so many more wait; whoever comes then is turned away. */
export type Gate = <Result>(task: () => Promise<Result>) => Promise<Result>;

export class GateFullError extends Error {
  override readonly name = 'GateFullError';
}

export function createGate(width: number, waitingMax: number): Gate {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (task) => {
    if (running >= width) {
      if (waiting.length >= waitingMax) throw new GateFullError('too many tasks are waiting');
      // Whoever leaves hands its place over, so nobody can slip in between.
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else {
      running += 1;
    }
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
