import type { Actor } from '../audit/actor.ts';
import { recordAudit } from '../audit/record-audit.ts';
import type { ChannelContext } from '../channel/context.ts';
import { enqueueJob } from '../channel/jobs/channel-job-queue.ts';
import { DomainError } from '../contract/domain-error.ts';
import { valuesOf } from '../contract/enumerations.ts';
import { STRING_LENGTH_LIMIT } from '../contract/limits.ts';
import type { Address } from '../contract/resources/common.ts';
import type { Queryable, Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { assertAmountsStay } from './currency-decimals.ts';
import { checkedCurrency, checkedName, checkedTimeZone } from './input-rules.ts';
import { lockRatesShared } from './rates/exchange-rates.ts';
import { assertRates, type RateOptions } from './rates/missing-rates.ts';

export type OrganizationSettings = {
  name: string;
  address: Address;
  defaultTaxTreatment: string;
  currency: string;
  /** The time zone of local times that people type, such as the start of a promotion. */
  timeZone: string;
  /** Owners always see cost prices. */
  staffSeesCost: boolean;
};

export type ChangeOptions = RateOptions & {
  /** The revision that the change began from. If the settings have changed since, the change is refused. */
  revision?: number;
};

/** What stands in documents of the channel; the other settings concern the dealer's own pages alone. */
const IN_DOCUMENTS = ['name', 'address', 'defaultTaxTreatment', 'currency'];

/** Changes what stands in every document of the dealer; a job on each channel carries it into them. */
export async function changeOrganization(
  context: ChannelContext,
  actor: Actor,
  organizationId: string,
  changes: Partial<OrganizationSettings>,
  options: ChangeOptions = {},
): Promise<void> {
  const { address, defaultTaxTreatment } = changes;
  const name = changes.name === undefined ? null : checkedName(changes.name);
  const currency = changes.currency === undefined ? null : checkedCurrency(changes.currency);
  const timeZone = changes.timeZone === undefined ? null : checkedTimeZone(changes.timeZone);
  const staffSees = changes.staffSeesCost ?? null;
  if (address !== undefined) assertAddress(address);
  if (defaultTaxTreatment !== undefined && !valuesOf('tax_treatment').some((value) => value === defaultTaxTreatment)) {
    throw new DomainError('invalid_input', 'There is no such tax treatment.', 'defaultTaxTreatment');
  }
  const hasAddress = address !== undefined;
  // A toggle overwrites nothing that a colleague is typing.
  const isTyped = Object.keys(changes).some((field) => field !== 'staffSeesCost');
  await context.db.transaction(async (tx) => {
    if (currency !== null) await lockRatesShared(tx);
    const locked = await lockSettings(tx, organizationId);
    if (locked === null) throw new DomainError('not_found', 'There is no such organization.');
    const { revision, ...old } = locked;
    if (options.revision !== undefined && options.revision !== revision) throw changedMeanwhile();
    await tx.query(sql`
      update organizations set
        name = coalesce(${name}, name),
        default_tax_treatment = coalesce(${defaultTaxTreatment ?? null}, default_tax_treatment),
        currency = coalesce(${currency}, currency),
        time_zone = coalesce(${timeZone}, time_zone),
        staff_sees_cost = coalesce(${staffSees}::boolean, staff_sees_cost),
        settings_revision = settings_revision + ${isTyped ? 1 : 0},
        address_line1 = case when ${hasAddress} then ${address?.line1 ?? null} else address_line1 end,
        address_line2 = case when ${hasAddress} then ${address?.line2 ?? null} else address_line2 end,
        city = case when ${hasAddress} then ${address?.city ?? null} else city end,
        state = case when ${hasAddress} then ${address?.state ?? null} else state end,
        postal_code = case when ${hasAddress} then ${address?.postal_code ?? null} else postal_code end,
        country = case when ${hasAddress} then ${address?.country ?? null} else country end
      where id = ${organizationId}`);
    await recordAudit(tx, actor, {
      organizationId,
      action: 'organization.changed',
      object: { kind: 'organization', id: organizationId },
      old,
      new: {
        name: name ?? old.name,
        address,
        defaultTaxTreatment,
        currency: currency ?? old.currency,
        timeZone: timeZone ?? old.timeZone,
        staffSeesCost: staffSees ?? old.staffSeesCost,
      },
    });
    const changed = Object.keys(changes).filter((field) => IN_DOCUMENTS.includes(field));
    if (changed.length > 0) await refreshOrganization(tx, organizationId, changed.join(', '));
    if (currency === null) return;
    // Last, because it takes the lock of a count.
    await assertAmountsStay(tx, organizationId, old.currency, currency, context.now());
    await assertRates(tx, await channelsOf(tx, organizationId), options);
  });
}

async function channelsOf(tx: Transaction, organizationId: string): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(sql`
    select id from integrations where organization_id = ${organizationId} and deleted_at is null`);
  return rows.map((row) => row.id);
}

const SETTINGS = sql`
  name, default_tax_treatment as "defaultTaxTreatment", currency, time_zone as "timeZone",
  staff_sees_cost as "staffSeesCost", settings_revision as revision,
  json_build_object('line1', address_line1, 'line2', address_line2, 'city', city, 'state', state,
    'postal_code', postal_code, 'country', country) as address`;

type StoredSettings = OrganizationSettings & { revision: number };

/** Null if there is no such organization. */
export async function readOrganizationSettings(db: Queryable, organizationId: string): Promise<StoredSettings | null> {
  const [row] = await db.query<StoredSettings>(sql`
    select ${SETTINGS} from organizations where id = ${organizationId} and deleted_at is null`);
  return row ?? null;
}

async function lockSettings(tx: Transaction, organizationId: string): Promise<StoredSettings | null> {
  const [row] = await tx.query<StoredSettings>(sql`
    select ${SETTINGS} from organizations where id = ${organizationId} for no key update`);
  return row ?? null;
}

function changedMeanwhile(): DomainError {
  return new DomainError(
    'changed_meanwhile',
    'Somebody else has changed these settings since you opened them. Nothing of yours was saved yet.',
  );
}

function assertAddress(address: Address): void {
  for (const [field, text] of Object.entries(address)) {
    if (text === null || (text.length <= STRING_LENGTH_LIMIT && text.isWellFormed() && !/\p{Cc}/u.test(text))) continue;
    throw new DomainError(
      'invalid_input',
      `A line of an address has at most ${STRING_LENGTH_LIMIT} characters, and none that controls.`,
      `address.${field}`,
    );
  }
  if (address.country !== null && !/^[A-Z]{2}$/.test(address.country)) {
    throw new DomainError('invalid_input', 'The country must be a code of two capital letters.', 'address.country');
  }
}

/** The currency of the dealer's own prices; null if there is no such organization. */
export async function currencyOf(db: Queryable, organizationId: string): Promise<string | null> {
  const [row] = await db.query<{ currency: string }>(sql`
    select currency from organizations where id = ${organizationId}`);
  return row?.currency ?? null;
}

/** What holds for an item unless it says otherwise. */
export async function organizationDefaults(
  db: Queryable,
  organizationId: string,
): Promise<{ currency: string; defaultTaxTreatment: string }> {
  const [row] = await db.query<{ currency: string; defaultTaxTreatment: string }>(sql`
    select currency, default_tax_treatment as "defaultTaxTreatment" from organizations where id = ${organizationId}`);
  if (row === undefined) throw new DomainError('not_found', 'There is no such organization.');
  return row;
}

/**
 * Asks for every channel of an organization to be projected anew. A channel that is being attached waits for the commit,
 * or is waited for: otherwise it would neither be found here nor see the change.
 */
export async function refreshOrganization(tx: Transaction, organizationId: string, reason: string): Promise<void> {
  await tx.query(sql`select id from organizations where id = ${organizationId} for no key update`);
  const rows = await tx.query<{ id: string }>(sql`
    select id from integrations where organization_id = ${organizationId} order by id`);
  await enqueueJob(
    tx,
    'refresh',
    rows.map((row) => row.id),
    reason,
  );
}
