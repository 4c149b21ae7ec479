/** How many documents the next batch of a mass change has. */
export type BatchSize = {
  documents(): number;
  /** A batch of so many documents held the clock for so long. */
  note(documents: number, heldMs: number): void;
};

/** How many documents the first batch has, and how many one has at least and at most. */
export type SizeLimits = { first: number; least: number; most: number };

/** So far a size moves at once: one slow flush of the disk says little about the next batch. */
const STEP = 1.5;

/**
 * A batch holds the clock, which the orders of its integration wait for, and each batch costs some round trips whatever its
 * size. So a batch has as many documents as are done in the time that an order may wait: more on a fast machine, fewer on a busy one.
 */
export function createBatchSize({ first, least, most }: SizeLimits, heldMs: number): BatchSize {
  let size = first;
  return {
    documents: () => size,
    note(documents, ms) {
      // What is left at the end is mostly round trips.
      if (documents < size) return;
      const fitting = Math.round((documents * heldMs) / Math.max(ms, Number.MIN_VALUE));
      const near = Math.min(Math.max(fitting, Math.floor(size / STEP)), Math.ceil(size * STEP));
      size = Math.min(Math.max(near, least), most);
    },
  };
}
