import { draw16Hex } from './random-bytes.ts';

/** The id of a request: in its answer (X-Request-Id), in the service log and in the log of API requests. */
export function newRequestId(): string {
  return `req_${draw16Hex()}`;
}
