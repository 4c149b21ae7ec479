import type { ImageFormat } from '../../channel/projection/documents.ts';
import type { Rounding } from '../../channel/projection/pricing.ts';
import type { Queryable } from '../../db/database.ts';
import { type Sql, sql } from '../../db/sql.ts';
import { SHOWN_INTEGRATIONS_LIMIT } from './integrations.ts';

/** An integration as its dealer sees it. */
export type DealerIntegration = {
  id: string;
  name: string;
  keyHint: string;
  isEnabled: boolean;
  isTestMode: boolean;
  apiVersion: string;
  currency: string;
  markupBasisPoints: number;
  rounding: Rounding;
  imageFormat: ImageFormat;
  rateLimitOverride: number | null;
  createdAt: Date;
  /** When its key was used last, to the minute; null if it never was. */
  lastUsedAt: Date | null;
};

const COLUMNS = sql`i.id, i.name, i.key_hint as "keyHint", i.is_enabled as "isEnabled", i.is_test_mode as "isTestMode",
  i.api_version as "apiVersion", i.currency, i.markup_basis_points as "markupBasisPoints", i.rounding,
  i.image_format as "imageFormat", i.rate_limit_override as "rateLimitOverride", i.created_at as "createdAt",
  u.last_used_at as "lastUsedAt"`;

/** The integrations of a dealer, oldest first. */
export async function listIntegrationsOf(db: Queryable, organizationId: string): Promise<DealerIntegration[]> {
  return await find(db, sql`i.organization_id = ${organizationId}`);
}

/** Null if the dealer has no such integration. */
export async function findIntegrationOf(
  db: Queryable,
  organizationId: string,
  integrationId: string,
): Promise<DealerIntegration | null> {
  const [row] = await find(db, sql`i.id = ${integrationId} and i.organization_id = ${organizationId}`);
  return row ?? null;
}

async function find(db: Queryable, which: Sql): Promise<DealerIntegration[]> {
  return await db.query<DealerIntegration>(sql`
    select ${COLUMNS} from integrations i left join integration_usage u on u.integration_id = i.id
    where ${which} and i.deleted_at is null order by i.id limit ${SHOWN_INTEGRATIONS_LIMIT}`);
}

/** The currencies that a dealer's channels can have: its own, and those with an exchange rate to it. */
export async function listChannelCurrencies(db: Queryable, organizationId: string): Promise<string[]> {
  const rows = await db.query<{ currency: string }>(sql`
    select o.currency from organizations o where o.id = ${organizationId}
    union
    select r.quote from organizations o join exchange_rates r on r.base = o.currency where o.id = ${organizationId}
    union
    select r.base from organizations o join exchange_rates r on r.quote = o.currency where o.id = ${organizationId}
    order by 1`);
  return rows.map((row) => row.currency);
}
