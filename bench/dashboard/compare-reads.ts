import { ratioAtMost, record } from '../figures.ts';
import { median } from '../shop.ts';
import { printTable } from '../table.ts';
import type { BenchDealer } from './dealer.ts';

/** One read of a list: what it is, and its path. */
export type Read = readonly [what: string, path: string];
type Side = { dealer: BenchDealer; reads: Read[]; size: number };

const SAMPLES = 40;
const WARM_UP = 5;
/** A read that is far too slow must not keep the others waiting. */
const READ_LIMIT_MS = 4_000;
const RATIO_WANTED = 3;

/** Times each read of both dealers in turn, so that a busy moment of the machine hits both, and prints the ratios. */
export async function compareReads(list: string, few: Side, many: Side): Promise<void> {
  const rows: string[][] = [];
  for (const [index, [what]] of few.reads.entries()) {
    const times = { few: [] as number[], many: [] as number[] };
    const startedAt = performance.now();
    for (let sample = -WARM_UP; sample < SAMPLES; sample++) {
      const fewMs = await timed(few, index);
      const manyMs = await timed(many, index);
      if (sample < 0) continue;
      times.few.push(fewMs);
      times.many.push(manyMs);
      if (performance.now() - startedAt > READ_LIMIT_MS) break;
    }
    const [ofFew, ofMany] = [median(times.few), median(times.many)];
    const ratio = ofMany / ofFew;
    record({
      name: `${list}: ${what}`,
      unit: 'ms',
      ours: ofMany,
      growth: {
        of: 'rows',
        points: [
          { size: few.size, value: ofFew },
          { size: many.size, value: ofMany },
        ],
      },
      wanted: ratioAtMost(RATIO_WANTED),
    });
    const verdict = ratio <= RATIO_WANTED ? '' : 'over';
    rows.push([what, `${ofFew.toFixed(1)} ms`, `${ofMany.toFixed(1)} ms`, ratio.toFixed(2), verdict]);
  }
  printTable(
    `First pages of ${list} over ${counted(many)} rows against ${counted(few)}: one at a time, median of ${SAMPLES}; a ratio of at most ${RATIO_WANTED} is wanted`,
    ['what', 'few rows', 'many rows', 'ratio', ''],
    rows,
  );
}

function counted({ size }: Side): string {
  return size.toLocaleString('en-US');
}

async function timed({ dealer, reads }: Side, index: number): Promise<number> {
  const path = reads[index]?.[1] ?? '';
  const startedAt = performance.now();
  await dealer.ask('GET', path);
  return performance.now() - startedAt;
}
