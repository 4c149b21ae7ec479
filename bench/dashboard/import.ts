import { setTimeout as sleep } from 'node:timers/promises';
import { record, valueAtMost } from '../figures.ts';
import { printTable } from '../table.ts';
import type { BenchDealer } from './dealer.ts';

const LINES = 10_000;
const WANTED_SECONDS = 60;
const LIMIT_MS = 240_000;
const POLL_MS = 200;
const HEADER = 'stock_number,title,brand,model,condition,price,reference_number,year,description';

/** A file of new watches without photos: from the upload to the end of its job. */
export async function measureImport(dealer: BenchDealer): Promise<void> {
  const lines = Array.from({ length: LINES }, (_, index) => lineOf(index));
  const startedAt = performance.now();
  const upload = await dealer.ask('POST', '/imports?kind=listing&name=bench.csv', [HEADER, ...lines, ''].join('\n'));
  const fileId = (JSON.parse(upload) as { file_id: string }).file_id;
  const { mapping } = JSON.parse(await dealer.ask('GET', `/imports/${fileId}`)) as { mapping: string[] };
  const uploadedAt = performance.now();
  const checked = await finish(dealer, await dealer.ask('POST', `/imports/${fileId}/check`, { mapping }));
  const checkedAt = performance.now();
  const imported = await finish(dealer, await dealer.ask('POST', `/imports/${fileId}/run`, { mapping }));
  const seconds = (performance.now() - startedAt) / 1000;
  record({
    name: `import of ${LINES.toLocaleString('en-US')} watches`,
    unit: 's',
    ours: seconds,
    wanted: valueAtMost(WANTED_SECONDS),
  });
  printTable(
    `An import of ${LINES.toLocaleString('en')} new watches, beside what there is; less than ${WANTED_SECONDS} s is wanted`,
    ['lines', 'upload', 'check', 'import', 'together', 'result', ''],
    [
      [
        String(LINES),
        secondsOf(uploadedAt - startedAt),
        secondsOf(checkedAt - uploadedAt),
        secondsOf(performance.now() - checkedAt),
        secondsOf(seconds * 1000),
        `checked ${checked}, imported ${imported}`,
        seconds < WANTED_SECONDS ? '' : 'over',
      ],
    ],
  );
}

function lineOf(index: number): string {
  const number = String(index + 1).padStart(6, '0');
  return `I-${number},Omega Seamaster ${number},Omega,Seamaster,Good,${1000 + (index % 5000)}.00,R${index % 900},1998,As good as new`;
}

/** Waits until a job has ended; answers what it counted. */
async function finish(dealer: BenchDealer, started: string): Promise<string> {
  const { job_id: jobId } = JSON.parse(started) as { job_id: string };
  const deadline = performance.now() + LIMIT_MS;
  while (performance.now() < deadline) {
    const { job } = JSON.parse(await dealer.ask('GET', `/jobs/${jobId}`)) as {
      job: { status: string; counts: Record<string, number> };
    };
    if (job.status === 'done') return JSON.stringify(job.counts);
    if (job.status === 'failed' || job.status === 'cancelled') throw new Error(`the job ${job.status}`);
    await sleep(POLL_MS);
  }
  throw new Error('the import took too long');
}

function secondsOf(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}
