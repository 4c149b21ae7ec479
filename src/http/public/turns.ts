/**
 * One at a time for each name. Writes that need the same lock in the database queue here, in the process, where waiting
 * costs no connection: forty bulks of one dealer at once kept the requests of all others waiting for 2.7 s. How long
 * the queue gets is bounded by the rate limit.
 */
export type Turns = <Result>(name: string, work: () => Promise<Result>) => Promise<Result>;

export function createTurns(): Turns {
  const lastOf = new Map<string, Promise<void>>();
  return (name, work) => {
    const turn = (lastOf.get(name) ?? Promise.resolve()).then(work);
    const last = turn.then(ignore, ignore).then(() => {
      if (lastOf.get(name) === last) lastOf.delete(name);
    });
    lastOf.set(name, last);
    return turn;
  };
}

function ignore(): void {}
