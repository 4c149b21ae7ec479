import {
  STOCK_CHECK_COUNTS,
  STOCK_JOB_COUNTS,
  type StockJobCount,
} from '../../../../src/contract/dashboard/stock/jobs.ts';
import { formatNumber } from '../../format.ts';
import type { Job } from './jobs-queries.ts';

/** "12 created, 3 changed", or "would be" of a check: what is not zero, in a fixed order. */
export function countsText({ kind, counts }: Pick<Job, 'kind' | 'counts'>): string {
  const words: Readonly<Record<StockJobCount, string>> =
    kind === 'import_check' ? STOCK_CHECK_COUNTS : STOCK_JOB_COUNTS;
  const known = Object.keys(STOCK_JOB_COUNTS) as StockJobCount[];
  const parts = known
    .filter((name) => (counts[name] ?? 0) > 0)
    .map((name) => `${formatNumber(counts[name] ?? 0)} ${words[name]}`);
  return parts.length === 0 ? 'nothing to do' : parts.join(', ');
}
