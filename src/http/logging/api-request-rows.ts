import { IDEMPOTENCY_KEY_LENGTH_LIMIT } from '../../contract/limits.ts';
import type { Operation } from '../../contract/operations/operation.ts';
import { hintOf } from '../../dealers/integrations/api-keys.ts';
import { ignoredFieldsOf } from '../public/ignored-names/ignored-fields.ts';
import { parseQueryString } from '../query-string.ts';
import type { ApiRequestRow } from './api-requests.ts';
import type { RequestRecord } from './log-answer.ts';

/** A request that has ended, as it is taken from the hot path: nothing of it is formatted yet. */
export type EndedRequest = {
  integrationId: string;
  method: string;
  url: string;
  authorization: string;
  idempotencyKey: string | string[] | undefined;
  status: number | null;
  endedAtMs: number;
  record: RequestRecord;
};

const BEARER_LENGTH = 'Bearer '.length;
const VALUE_LENGTH_LIMIT = 200;
/** A cursor says where a page begins, and nothing that a person could read. */
const CURSOR_PARAMETERS = new Set(['after']);
/** How an answer about one thing begins; that of a ping names its event. */
const ANSWER_ID =
  /^\{(?:"object":"\w+",)?(?:"delivery_id":(?:null|"\w+"),)?"(?:id|event_id)":"([a-z]{3}_[0-9a-z]{1,40})"/;

/** The row of a request. `offsetMs` is what the clock of the process lacks to the time of day. */
export function rowOf(ended: EndedRequest, offsetMs: number): ApiRequestRow {
  const { integrationId, method, url, authorization, status, endedAtMs, record } = ended;
  const { requestId, operation, startedAtMs, fault = null, written = null, unknownNames = null } = record;
  const ignored = unknownNames === null ? [] : ignoredFieldsOf({ unknownNames });
  const query = operation === null ? [] : knownQuery(url, operation);
  return {
    integrationId,
    at: new Date(offsetMs + startedAtMs),
    requestId,
    method,
    route: operation?.path ?? null,
    query: query.length === 0 ? null : JSON.stringify(query),
    status,
    code: fault?.code ?? null,
    durationMs: Math.round(endedAtMs - startedAtMs),
    keyHint: hintOf(authorization.slice(BEARER_LENGTH)),
    idempotencyKey: method === 'POST' ? keyOf(ended.idempotencyKey) : null,
    objectId: written === null ? null : (ANSWER_ID.exec(written.answer)?.[1] ?? null),
    ignoredFields: ignored.length === 0 ? null : storable(JSON.stringify(ignored)),
    originalRequestId: written?.originalRequestId ?? null,
  };
}

function keyOf(header: string | string[] | undefined): string | null {
  if (typeof header !== 'string' || header === '') return null;
  return storable(header.slice(0, IDEMPOTENCY_KEY_LENGTH_LIMIT));
}

/** Unknown parameters are named among the ignored fields; their values may be anything, also about persons. */
function knownQuery(url: string, { query }: Operation): { name: string; value: string | null }[] {
  const start = url.indexOf('?');
  if (start === -1) return [];
  const { properties = {} } = query as { properties?: Record<string, unknown> };
  const known: { name: string; value: string | null }[] = [];
  for (const [name, values] of Object.entries(parseQueryString(url.slice(start + 1)))) {
    if (!Object.hasOwn(properties, name)) continue;
    const value = typeof values === 'string' ? values : (values[0] ?? '');
    const shown = CURSOR_PARAMETERS.has(name) ? null : storable(value.slice(0, VALUE_LENGTH_LIMIT));
    known.push({ name, value: shown });
  }
  return known;
}

/** If the database refused one text, the whole batch would fail. */
function storable(text: string): string {
  return text.replaceAll('\0', '').toWellFormed();
}
