import type { GroupedKey } from '../../concurrency/limits/keyed-semaphore.ts';
import type { Queryable } from '../../db/database.ts';
import { type Sql, sql } from '../../db/sql.ts';
import { hashApiKey } from './api-keys.ts';

/** What the service must know about an integration before it serves a request. */
export type Admission = {
  integrationId: string;
  organizationId: string | null;
  isEnabled: boolean;
  /** The organization is set up and not archived. */
  isProvisioned: boolean;
  hasPlan: boolean;
  isTestMode: boolean;
  /** The integration's currency, and the country its organization is in. */
  currency: string;
  country: string | null;
  apiVersion: string;
  rateLimitOverride: number | null;
  /** How much it may store in a day; null is the operator's setting. */
  storageQuotaMb: number | null;
  /**
   * The newest stamp of what the client of this integration can read. As long as it is the same, earlier answers are
   * still right.
   */
  clockMs: number;
  /** The database's time at the lookup, unless a test owns the clock. */
  nowMs: number;
};

/** Whose share of a limit the requests of an integration take: that of its dealer, and within it its own. */
export function shareOf({
  integrationId,
  organizationId,
}: Pick<Admission, 'integrationId' | 'organizationId'>): GroupedKey {
  return { group: organizationId ?? integrationId, key: integrationId };
}

/** The ids of a dealer's integrations, also of those that are being deleted, for a statement. */
export function integrationsOf(organizationId: string): Sql {
  return sql`select id from integrations where organization_id = ${organizationId}`;
}

type AdmissionRow = {
  key_hash: string;
  id: string;
  organization_id: string | null;
  is_enabled: boolean;
  is_provisioned: boolean;
  has_plan: boolean;
  is_test_mode: boolean;
  currency: string;
  country: string | null;
  api_version: string;
  rate_limit_override: number | null;
  storage_quota_mb: number | null;
  clock_ms: number;
  now_ms: number;
};

/** A lookup by key takes a millisecond. A request waits this long for a database that does not answer. */
const LOOKUP_TIMEOUT_MS = 3_000;

/** Looks up several keys at once. The results are in the order of the keys; an unknown key is null. */
export async function findAdmissions(
  db: Queryable,
  keys: string[],
  now: Date | null = null,
): Promise<(Admission | null)[]> {
  // Under load most of them are the same few keys.
  const hashOf = new Map(keys.map((key) => [key, '']));
  const hashes = [...hashOf.keys()].map((key) => {
    const hash = hashApiKey(key);
    hashOf.set(key, hash.toString('hex'));
    return hash;
  });
  const statement = sql`
    select encode(i.key_hash, 'hex') as key_hash, i.id, i.organization_id, i.is_enabled, i.is_test_mode, i.currency, i.api_version,
      i.rate_limit_override, i.storage_quota_mb, o.country,
      coalesce(o.is_provisioned and o.archived_at is null, false) as is_provisioned,
      coalesce(o.has_integration_plan, false) as has_plan, 
      floor(extract(epoch from c.stamp) * 1000)::bigint as clock_ms,
      floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms
    from integrations i
    join channel_clocks c on c.integration_id = i.id
    left join organizations o on o.id = i.organization_id
    where ${isOneOf(hashes)}`;
  const rows = await db.query<AdmissionRow>(statement, { timeoutMs: LOOKUP_TIMEOUT_MS });
  const byHash = new Map(rows.map((row) => [row.key_hash, admissionOf(row, now)]));
  return keys.map((key) => byHash.get(hashOf.get(key) ?? '') ?? null);
}

/** One key, the usual case, has a statement of its own: for a list, the server would plan each time. */
function isOneOf(hashes: Buffer[]): Sql {
  return hashes.length === 1 ? sql`i.key_hash = ${hashes[0]}` : sql`i.key_hash = any(${hashes}::bytea[])`;
}

function admissionOf(row: AdmissionRow, now: Date | null): Admission {
  return {
    integrationId: row.id,
    organizationId: row.organization_id,
    isEnabled: row.is_enabled,
    isProvisioned: row.is_provisioned,
    hasPlan: row.has_plan,
    isTestMode: row.is_test_mode,
    currency: row.currency,
    country: row.country,
    apiVersion: row.api_version,
    rateLimitOverride: row.rate_limit_override,
    storageQuotaMb: row.storage_quota_mb,
    clockMs: row.clock_ms,
    nowMs: now?.getTime() ?? row.now_ms,
  };
}
