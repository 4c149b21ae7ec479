import type { Queryable } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { DELIVERY_STATUSES, type DeliveryStatus } from '../delivery-queue/delivery-log.ts';
import { isDue, isUnleased } from '../delivery-queue/due.ts';
import type { SecretEncryption } from './secret-encryption.ts';

/** Why nothing is sent. `gone` is the receiver's own doing: it answered 410 Gone so often that webhooks were turned off. */
export type StopReason =
  | 'no_url'
  | 'gone'
  | 'webhooks_off'
  | 'integration_disabled'
  | 'no_organization'
  | 'not_provisioned'
  | 'no_plan';

/** What is set for an endpoint, and how its last deliveries went. */
export type EndpointStatus = {
  integrationId: string;
  url: string | null;
  isEnabled: boolean;
  subscribedEvents: string[];
  /** Whether webhooks are sent now, and if not, every reason. */
  isSending: boolean;
  stopReasons: StopReason[];
  lastSuccessAt: Date | null;
  lastFailureAt: Date | null;
  consecutiveFailures: number;
};

export type SecretState = {
  createdAt: Date;
  /** Null for the newest; the others also sign until then. */
  expiresAt: Date | null;
  /** False if none of the service's secret keys decrypts it: nothing can be signed with it. */
  isDecryptable: boolean;
};

export type Backlog = {
  counts: Record<DeliveryStatus, number>;
  /** True if only the newest deliveries were counted. */
  isLimited: boolean;
  /** The oldest that is due and that nobody sends; null if there is none. */
  dueSince: Date | null;
};

export const COUNT_LIMIT = 1_000_000;
const SECRETS_AT_ONCE = 1_000;

type StateRow = Omit<EndpointStatus, 'stopReasons'> & {
  disabledReason: string | null;
  isIntegrationEnabled: boolean;
  hasOrganization: boolean;
  isProvisioned: boolean;
  hasPlan: boolean;
};

/** Null if there is no such integration. */
export async function readEndpointStatus(db: Queryable, integrationId: string): Promise<EndpointStatus | null> {
  const [status] = await readEndpointStatuses(db, [integrationId]);
  return status ?? null;
}

export async function readEndpointStatuses(db: Queryable, integrationIds: string[]): Promise<EndpointStatus[]> {
  const rows = await db.query<StateRow>(sql`
    select e.integration_id as "integrationId", e.url, e.is_enabled as "isEnabled", r.is_sending as "isSending",
      e.subscribed_events as "subscribedEvents", e.disabled_reason as "disabledReason",
      e.last_success_at as "lastSuccessAt", e.last_failure_at as "lastFailureAt",
      e.consecutive_failures as "consecutiveFailures", i.is_enabled as "isIntegrationEnabled",
      o.id is not null as "hasOrganization", coalesce(o.has_integration_plan, false) as "hasPlan",
      coalesce(o.is_provisioned and o.archived_at is null, false) as "isProvisioned"
    from webhook_endpoints e
    join webhook_endpoint_states r on r.integration_id = e.integration_id
    join integrations i on i.id = e.integration_id
    left join organizations o on o.id = i.organization_id
    where e.integration_id = any(${integrationIds}::text[]) order by e.integration_id`);
  return rows.map((row) => {
    const { disabledReason, isIntegrationEnabled, hasOrganization, isProvisioned, hasPlan, ...state } = row;
    return { ...state, stopReasons: stopReasonsOf(row) };
  });
}

/** How many of a dealer's endpoints are switched off although they have a URL. */
export async function countEndpointsOff(db: Queryable, organizationId: string, limit: number): Promise<number> {
  const rows = await db.query(sql`
    select e.integration_id from webhook_endpoints e join integrations i on i.id = e.integration_id
    where i.organization_id = ${organizationId} and i.deleted_at is null and e.url is not null and not e.is_enabled
    limit ${limit}`);
  return rows.length;
}

function stopReasonsOf(row: StateRow): StopReason[] {
  const reasons: StopReason[] = [];
  if (row.url === null) reasons.push('no_url');
  if (!row.isEnabled) reasons.push(row.disabledReason === 'gone' ? 'gone' : 'webhooks_off');
  if (!row.isIntegrationEnabled) reasons.push('integration_disabled');
  if (!row.hasOrganization) return [...reasons, 'no_organization'];
  if (!row.isProvisioned) reasons.push('not_provisioned');
  if (!row.hasPlan) reasons.push('no_plan');
  return reasons;
}

/** The secrets that sign now, newest first. */
export async function readSecrets(
  db: Queryable,
  encryption: SecretEncryption,
  integrationId: string,
): Promise<SecretState[]> {
  const rows = await db.query<Omit<SecretState, 'isDecryptable'> & { ciphertext: string }>(sql`
    select created_at as "createdAt", expires_at as "expiresAt", ciphertext from webhook_secrets
    where integration_id = ${integrationId} and (expires_at is null or expires_at > clock_timestamp())
    order by id desc`);
  return rows.map(({ ciphertext, ...secret }) => ({ ...secret, isDecryptable: isDecryptable(encryption, ciphertext) }));
}

/**
 * Tries to decrypt every secret that signs now. Returns how many there are, how many can be decrypted, and the integrations for
 * which no key fits.
 */
export async function checkAllSecrets(
  db: Queryable,
  encryption: Pick<SecretEncryption, 'decrypt'>,
): Promise<{ total: number; decryptable: number; undecryptable: Set<string> }> {
  const undecryptable = new Set<string>();
  let [total, decryptable, afterIntegration, afterId] = [0, 0, '', 0];
  for (;;) {
    const rows = await db.query<{ integrationId: string; id: number; ciphertext: string }>(sql`
      select integration_id as "integrationId", id, ciphertext from webhook_secrets
      where (integration_id, id) > (${afterIntegration}, ${afterId}::bigint)
        and (expires_at is null or expires_at > clock_timestamp())
      order by integration_id, id limit ${SECRETS_AT_ONCE}`);
    for (const { integrationId, ciphertext } of rows) {
      if (isDecryptable(encryption, ciphertext)) decryptable += 1;
      else undecryptable.add(integrationId);
    }
    total += rows.length;
    const last = rows.at(-1);
    if (last === undefined || rows.length < SECRETS_AT_ONCE) return { total, decryptable, undecryptable };
    [afterIntegration, afterId] = [last.integrationId, last.id];
  }
}

function isDecryptable(encryption: Pick<SecretEncryption, 'decrypt'>, ciphertext: string): boolean {
  try {
    encryption.decrypt(ciphertext);
    return true;
  } catch {
    return false;
  }
}

export async function readBacklog(db: Queryable, integrationId: string): Promise<Backlog> {
  const rows = await db.query<{ status: DeliveryStatus; count: number }>(sql`
    select status, count(*) as count from (
      select status from deliveries where integration_id = ${integrationId} order by id desc limit ${COUNT_LIMIT}) d
    group by status`);
  const now = sql`clock_timestamp()`;
  // Without a worker nobody makes retries due: those whose time has come are overdue as well.
  const [due] = await db.query<{ dueAt: Date | null }>(sql`
    select least(
      (select d.due_at from deliveries d
       where d.integration_id = ${integrationId} and ${isDue(now)} and ${isUnleased(now)}
       order by d.due_at limit 1),
      (select min(due_at) from deliveries
       where integration_id = ${integrationId} and is_waiting and due_at <= clock_timestamp())) as "dueAt"`);
  const countOf = new Map(rows.map(({ status, count }) => [status, count]));
  const counts = Object.fromEntries(DELIVERY_STATUSES.map((status) => [status, countOf.get(status) ?? 0]));
  return {
    counts: counts as Backlog['counts'],
    isLimited: rows.reduce((sum, { count }) => sum + count, 0) === COUNT_LIMIT,
    dueSince: due?.dueAt ?? null,
  };
}
