import type { ErrorCode } from '../../../contract/errors.ts';
import type { Operation } from '../../../contract/operations/operation.ts';
import { type Html, html } from '../markup/html.ts';
import { errorLink, sentence } from '../markup/text.ts';
import type { Site } from '../page.ts';

type Check = { title: string; text: string; codes: readonly ErrorCode[]; isForWritesAlone?: true };

/** The order in which a request is checked. Clients rely on it: the first check that fails is the one that answers. */
export const CHECKS: readonly Check[] = [
  {
    title: 'Connection',
    text: 'The address does not have too many connections open. This is checked before anything is read.',
    codes: ['overloaded'],
  },
  {
    title: 'Authentication',
    text: 'The key names an integration.',
    codes: ['missing_authorization', 'malformed_authorization', 'invalid_api_key', 'auth_lookup_failed'],
  },
  { title: 'Rate limit', text: 'The tokens of the request fit into the window.', codes: ['too_many_requests'] },
  {
    title: 'Route',
    text: 'The path and the method name an endpoint.',
    codes: ['route_not_found', 'method_not_allowed'],
  },
  {
    title: 'Standing',
    text: 'The integration belongs to an organization, is switched on, and is provisioned and paid for. These are checked one by one, in this order.',
    codes: ['integration_org_missing', 'integration_disabled', 'integration_not_provisioned', 'subscription_required'],
  },
  {
    title: 'Idempotency key',
    text: 'A write names itself with `Idempotency-Key`.',
    codes: ['missing_idempotency_key'],
    isForWritesAlone: true,
  },
  { title: 'Size', text: 'The body is within its limit.', codes: ['request_too_large'], isForWritesAlone: true },
  { title: 'JSON', text: 'The body can be read.', codes: ['invalid_json'], isForWritesAlone: true },
  { title: 'Input', text: 'Parameters and fields are what the endpoint takes.', codes: ['invalid_request'] },
  {
    title: 'Replay',
    text: 'A write that was done before is answered from its record.',
    codes: ['key_reused_with_different_body', 'idempotency_key_in_use'],
    isForWritesAlone: true,
  },
  {
    title: 'Room on the disk',
    text: 'The disk of the service is not nearly full.',
    codes: ['overloaded'],
    isForWritesAlone: true,
  },
  {
    title: 'Storage quota',
    text: 'The integration has not yet stored as much as it may in one day.',
    codes: ['storage_quota_exceeded'],
    isForWritesAlone: true,
  },
  {
    title: 'Concurrent reads',
    text: 'Not too many reads of the same integration run at the same time. A read whose answer is in memory is not limited. A body over 128 KiB waits for this before it is read.',
    codes: ['overloaded'],
  },
  { title: 'The operation', text: 'Only now does the endpoint itself begin.', codes: [] },
];

export function orderOfChecks(operations: readonly Operation[], site: Site): Html {
  const hasWrites = operations.some((operation) => operation.isIdempotent);
  const checks = CHECKS.filter((check) => hasWrites || check.isForWritesAlone === undefined);
  return html`<ol class="checks">${checks.map(
    (check) => html`<li><p><strong>${check.title}.</strong> ${sentence(check.text, site)}</p>
${check.codes.length === 0 ? null : html`<p class="codes">${check.codes.map((code) => html`${errorLink(code, site)} `)}</p>`}</li>`,
  )}</ol>`;
}
