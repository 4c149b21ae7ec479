import type { Input, Output } from '../../api/client.ts';
import { read } from '../../api/queries.ts';

export type AuditEntry = Output<'GET /audit'>['data'][number];
export type FieldChange = AuditEntry['changes'][number];

type AuditQuery = NonNullable<Input<'GET /audit'>['query']>;

/** Nearly every change of anything adds to the log. */
const KINDS = [
  'audit',
  'item',
  'team',
  'organization',
  'location',
  'integration',
  'order',
  'sale',
  'customer',
] as const;

export function auditQuery(query: AuditQuery) {
  return read('GET /audit', { query }, KINDS);
}

export function auditObjectsQuery(auditId: string) {
  return read('GET /audit/{audit_id}/objects', { params: { audit_id: auditId } }, []);
}
