import { readFileSync } from 'node:fs';

/**
 * On a virtual machine the host can take the processor away for seconds; figures of such a time say nothing about the
 * service. Linux counts that time as "steal". Answers its part of the time in which something wanted to run, from the call
 * until the answer is called: 0 where nobody counts it.
 */
export function watchStolenTime(): () => number {
  const before = readTimes();
  return () => {
    const after = readTimes();
    const wanted = after.wanted - before.wanted;
    return wanted === 0 ? 0 : (after.stolen - before.stolen) / wanted;
  };
}

/** Of all processors, since the start of the machine, in ticks. */
type Times = { stolen: number; wanted: number };

const STAT_FILE = '/proc/stat';

function readTimes(): Times {
  if (process.platform !== 'linux') return { stolen: 0, wanted: 0 };
  const [total = ''] = readFileSync(STAT_FILE, 'utf8').split('\n', 1);
  const [user = 0, nice = 0, system = 0, , , interrupts = 0, softInterrupts = 0, stolen = 0] = total
    .trim()
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return { stolen, wanted: user + nice + system + interrupts + softInterrupts + stolen };
}
