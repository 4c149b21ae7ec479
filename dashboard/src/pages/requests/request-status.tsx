import { Status, type Tone } from '../../ui/status.tsx';
import type { ApiRequest } from './request-queries.ts';

/** The status of the answer, with the code of its error. */
export function RequestStatus({ request: { status, code } }: { request: Pick<ApiRequest, 'status' | 'code'> }) {
  if (status === null) return <Status tone="off">Aborted</Status>;
  return <Status tone={toneOf(status)}>{code === null ? String(status) : `${status} ${code}`}</Status>;
}

function toneOf(status: number): Tone {
  if (status >= 500) return 'bad';
  return status >= 400 ? 'warn' : 'good';
}
