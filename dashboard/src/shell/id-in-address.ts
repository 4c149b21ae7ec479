import { type IdKind, isId } from '../../../src/contract/ids.ts';
import { ApiFailure } from '../api/client.ts';

const NAMES = {
  customer: 'customer',
  order: 'order',
  integration: 'integration',
  delivery: 'delivery',
  event: 'event',
  job: 'job',
} satisfies Partial<Record<IdKind, string>>;

/**
 * The id in the address of a page. A text that can't be one is missing without a question to the service: there
 * `/customers/conflicts` is another operation, whose answer is no customer.
 */
export function idInAddress(kind: keyof typeof NAMES, params: object): string {
  const { id = '' } = params as { id?: string };
  if (isId(kind, id)) return id;
  throw missing(`There is no such ${NAMES[kind]}.`);
}

/** Requests have ids of their own making; only the prefix is certain. */
export function requestIdInAddress(params: object): string {
  const { id = '' } = params as { id?: string };
  if (id.startsWith('req_')) return id;
  throw missing('There is no such request in the log.');
}

function missing(message: string): ApiFailure {
  return new ApiFailure(404, { code: 'not_found', message, request_id: '' });
}
