import type { IncomingHttpHeaders } from 'node:http';
import { createBatcher } from '../../concurrency/batcher.ts';
import { ApiError } from '../../contract/errors.ts';
import { IDEMPOTENCY_KEY_LENGTH_LIMIT, RATE_LIMIT_DEFAULT } from '../../contract/limits.ts';
import type { Operation } from '../../contract/operations/operation.ts';
import type { Database } from '../../db/database.ts';
import { type Admission, findAdmissions, shareOf } from '../../dealers/integrations/admission.ts';
import { isApiKey } from '../../dealers/integrations/api-keys.ts';
import type { KeyUse } from '../../dealers/integrations/key-use.ts';
import type { Senders } from '../connection/senders.ts';
import { assertWithinRateLimit, rateHeaders } from './rate-limit/rate-limit-answer.ts';
import type { RateLimitStore, Spending } from './rate-limit/rate-limit-store.ts';

/** An integration whose requests are served: it is enabled, and its organization is provisioned and has the plan. */
export type AdmittedIntegration = Admission & { organizationId: string };

/** What the checks before the body found. Either an integration or the first fault; the headers belong to the answer in both cases. */
export type AdmissionResult = {
  integrationId: string | null;
  headers: Record<string, string>;
} & ({ integration: AdmittedIntegration; fault: null } | { integration: null; fault: unknown });

export type Admit = (
  headers: IncomingHttpHeaders,
  operation: Operation | null,
  assertRoute?: () => void,
) => Promise<AdmissionResult>;

type AdmitterOptions = {
  db: Database;
  rateLimits: RateLimitStore;
  now: () => Date | null;
  keyUse: KeyUse;
  senders: Senders;
};

const UNKNOWN_ROUTE_COST = 1;
const BEARER = 'bearer ';
const PRINTABLE_ASCII = /^[\x20-\x7e]+$/;

/**
 * Everything that is checked before a body is read, in the order the API promises: the key, the rate limit, the route,
 * the state of the integration, the Idempotency-Key header. The first that fails answers.
 */
export function admitter({ db, rateLimits, now, keyUse, senders }: AdmitterOptions): Admit {
  // One statement at a time looks up all keys that have arrived since the last one. Each request gets a fresh answer,
  // and under load it costs a fraction of a query.
  const findAdmission = createBatcher((keys: string[]) => findAdmissions(db, keys, now()));

  return async function admit(headers, operation, assertRoute) {
    const result = { integrationId: null as string | null, headers: {} as Record<string, string> };
    try {
      const key = bearerKey(headers.authorization);
      const { admission, spending, cap } = await lookUp(key, operation?.cost ?? UNKNOWN_ROUTE_COST);
      keyUse.note(admission.integrationId);
      senders.note(headers, shareOf(admission));
      result.integrationId = admission.integrationId;
      result.headers = { 'x-api-version': admission.apiVersion, ...rateHeaders(cap, spending) };
      assertWithinRateLimit(spending);
      assertRoute?.();
      const integration = assertIntegrationStatus(admission);
      if (operation?.isIdempotent) assertIdempotencyKey(headers['idempotency-key']);
      return { ...result, integration, fault: null };
    } catch (fault) {
      return { ...result, integration: null, fault };
    }
  };

  async function lookUp(key: string, cost: number): Promise<{ admission: Admission; spending: Spending; cap: number }> {
    try {
      const admission = await findAdmission(key);
      if (admission === null) throw new ApiError('invalid_api_key');
      const cap = admission.rateLimitOverride ?? RATE_LIMIT_DEFAULT;
      return { admission, cap, spending: await rateLimits.spend(admission.integrationId, cap, cost) };
    } catch (error) {
      if (error instanceof ApiError) throw error;
      throw new ApiError('auth_lookup_failed', { cause: error });
    }
  }
}

function bearerKey(header: string | undefined): string {
  if (header === undefined) throw new ApiError('missing_authorization');
  const key = header.slice(BEARER.length);
  if (header.slice(0, BEARER.length).toLowerCase() !== BEARER || !isApiKey(key)) {
    throw new ApiError('malformed_authorization');
  }
  return key;
}

function assertIntegrationStatus(admission: Admission): AdmittedIntegration {
  if (!hasOrganization(admission)) throw new ApiError('integration_org_missing');
  if (!admission.isEnabled) throw new ApiError('integration_disabled');
  if (!admission.isProvisioned) throw new ApiError('integration_not_provisioned');
  if (!admission.hasPlan) throw new ApiError('subscription_required');
  return admission;
}

function hasOrganization(admission: Admission): admission is AdmittedIntegration {
  return admission.organizationId !== null;
}

function assertIdempotencyKey(header: string | string[] | undefined): void {
  const param = 'Idempotency-Key';
  if (header === undefined || header === '') throw new ApiError('missing_idempotency_key', { param });
  if (typeof header !== 'string' || header.length > IDEMPOTENCY_KEY_LENGTH_LIMIT || !PRINTABLE_ASCII.test(header)) {
    throw new ApiError('invalid_request', {
      param,
      message: `Idempotency-Key must be 1 to ${IDEMPOTENCY_KEY_LENGTH_LIMIT} printable ASCII characters.`,
    });
  }
}
