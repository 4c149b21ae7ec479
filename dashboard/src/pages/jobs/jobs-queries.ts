import type { Output } from '../../api/client.ts';
import { read } from '../../api/queries.ts';

export type Job = Output<'GET /jobs'>['data'][number];
export type JobDetails = Output<'GET /jobs/{job_id}'>;

export function jobsQuery(query: Record<string, string>) {
  return read('GET /jobs', { query }, ['job']);
}

export function jobQuery(id: string) {
  return read('GET /jobs/{job_id}', { params: { job_id: id } }, ['job']);
}
