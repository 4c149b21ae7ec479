/**
 * The database's time, as far as a worker can know it: all workers write and compare times of that one clock. Each answer
 * that carries it was made between asking and arriving, so it bounds how far that clock is ahead of our own; answers
 * that came quickly narrow the bounds, and one that came slowly takes nothing away from them. Our own is the monotonic
 * one, which nobody sets.
 */
export type DatabaseTime = {
  observe(answer: { askedAt: number; arrivedAt: number; databaseMs: number }): void;
  /** The likeliest time. */
  now(): Date;
  /** A time that is certainly not before the real one: waits that are counted from it are never cut short. */
  latest(): Date;
};

export function createDatabaseTime(ownMs: () => number = () => performance.now()): DatabaseTime {
  // Until the first answer our own clock has to do.
  const start = Date.now() - performance.now();
  let ahead = { least: start, most: start };
  let isKnown = false;
  return {
    observe({ askedAt, arrivedAt, databaseMs }) {
      const seen = { least: databaseMs - arrivedAt, most: databaseMs - askedAt };
      const both = { least: Math.max(seen.least, ahead.least), most: Math.min(seen.most, ahead.most) };
      // Bounds that do not overlap mean that the database's clock was set, or that the two have drifted apart.
      ahead = isKnown && both.least <= both.most ? both : seen;
      isKnown = true;
    },
    now: () => new Date(ownMs() + (ahead.least + ahead.most) / 2),
    latest: () => new Date(Math.ceil(ownMs() + ahead.most)),
  };
}
