import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

/** The signal that changes the side of a process that is measured. */
const SWITCH_SIGNAL = 'SIGUSR2';
/** A signal is handled at the next turn of the event loop; nothing else happens meanwhile. */
const SWITCH_MS = 200;

/**
 * In the process that is measured: whether it works with what is measured, or without. One process does both, because two
 * differ by a few percent in what was compiled when and what lies where in memory.
 */
export function followSide(): { isWith(): boolean } {
  let isWith = true;
  process.on(SWITCH_SIGNAL, () => {
    isWith = !isWith;
  });
  return { isWith: () => isWith };
}

/** In the benchmark: puts the process on a side. */
export function createSideSwitch(child: ChildProcess): (isWith: boolean) => Promise<void> {
  let current = true;
  return async (isWith) => {
    if (isWith === current) return;
    current = isWith;
    child.kill(SWITCH_SIGNAL);
    await sleep(SWITCH_MS);
  };
}
