import { newId } from '../contract/ids.ts';
import type { Address } from '../contract/resources/common.ts';
import type { Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { type CustomerDraft, emailKey } from './customer-draft.ts';

/** Whose customers: the organization's, as one integration knows them, in one mode. */
export type CustomerScope = { organizationId: string; integrationId: string; isTest: boolean };

export type CustomerRecord = {
  id: string;
  email: string | null;
  phone: string | null;
  firstName: string | null;
  lastName: string | null;
  company: string | null;
  address: Address | null;
  createdAt: Date;
  updatedAt: Date;
};

export type Upserted =
  | { result: 'created' | 'updated'; customer: CustomerRecord; externalId: string | null }
  | { result: 'conflict'; reason: string };

/**
 * Customers that several drafts may concern, read at once; the drafts are applied in memory, one after the other as if
 * each had its own statement, and what became of the customers is written at once. The organization's lock is held.
 */
export type CustomerBook = {
  upsert(draft: CustomerDraft): Upserted;
  write(): Promise<void>;
};

/** One writer at a time for each organization: two batches with the same people in other orders can't deadlock. */
export async function lockCustomers(tx: Transaction, organizationId: string): Promise<void> {
  await tx.query(sql`select pg_advisory_xact_lock(hashtextextended(${`customers ${organizationId}`}, 0))`);
}

type Entry = CustomerRecord & {
  isNew: boolean;
  isChanged: boolean;
  /** The keys that stand in the database now, so that only those that move are cleared first. */
  storedEmailKey: string | null;
  storedPhone: string | null;
};

export async function openCustomerBook(
  tx: Transaction,
  scope: CustomerScope,
  drafts: CustomerDraft[],
  now: Date,
): Promise<CustomerBook> {
  const entries = await readEntries(tx, scope, drafts);
  const links = await readLinks(tx, scope, drafts, entries);
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const byEmail = index(entries, (entry) => (entry.email === null ? null : emailKey(entry.email)));
  const byPhone = index(entries, (entry) => entry.phone);
  const byExternalId = new Map(links.map((link) => [link.externalId, link.customerId]));
  const externalIdOf = new Map(links.map((link) => [link.customerId, link.externalId]));
  const newLinks: { externalId: string; customerId: string }[] = [];

  function upsert(draft: CustomerDraft): Upserted {
    const linked = draft.externalId == null ? undefined : byId.get(byExternalId.get(draft.externalId) ?? '');
    const withEmail = draft.email == null ? undefined : byEmail.get(emailKey(draft.email));
    const withPhone = draft.phone == null ? undefined : byPhone.get(draft.phone);
    const found = linked ?? withEmail ?? withPhone;
    const conflict = conflictOf(draft, linked, withEmail, withPhone);
    if (conflict !== null) return { result: 'conflict', reason: conflict };

    const entry = found ?? newEntry(now);
    if (found === undefined) {
      entries.push(entry);
      byId.set(entry.id, entry);
    }
    apply(entry, draft);
    if (draft.externalId != null && linked === undefined) {
      byExternalId.set(draft.externalId, entry.id);
      externalIdOf.set(entry.id, draft.externalId);
      newLinks.push({ externalId: draft.externalId, customerId: entry.id });
    }
    return {
      result: found === undefined ? 'created' : 'updated',
      customer: { ...entry },
      externalId: draft.externalId ?? externalIdOf.get(entry.id) ?? null,
    };
  }

  function conflictOf(draft: CustomerDraft, linked?: Entry, withEmail?: Entry, withPhone?: Entry): string | null {
    if (withEmail !== undefined && withPhone !== undefined && withEmail !== withPhone) {
      return 'The email and the phone belong to two different customers.';
    }
    const contact = withEmail ?? withPhone;
    if (contact === undefined) return null;
    const what = withEmail === undefined ? 'phone' : 'email';
    if (linked !== undefined) return contact === linked ? null : `The ${what} belongs to another customer.`;
    const known = externalIdOf.get(contact.id);
    if (draft.externalId != null && known !== undefined && known !== draft.externalId) {
      return `The ${what} belongs to a customer with another external_id.`;
    }
    return null;
  }

  function apply(entry: Entry, draft: CustomerDraft): void {
    const before = JSON.stringify(entry);
    if (draft.email !== undefined) {
      if (entry.email !== null) byEmail.delete(emailKey(entry.email));
      entry.email = draft.email;
      if (draft.email !== null) byEmail.set(emailKey(draft.email), entry);
    }
    if (draft.phone !== undefined) {
      if (entry.phone !== null) byPhone.delete(entry.phone);
      entry.phone = draft.phone;
      if (draft.phone !== null) byPhone.set(draft.phone, entry);
    }
    if (draft.firstName !== undefined) entry.firstName = draft.firstName;
    if (draft.lastName !== undefined) entry.lastName = draft.lastName;
    if (draft.company !== undefined) entry.company = draft.company;
    if (draft.address !== undefined) entry.address = draft.address;
    if (JSON.stringify(entry) === before) return;
    entry.isChanged = true;
    entry.updatedAt = now;
  }

  return {
    upsert,
    async write() {
      const changed = entries.filter((entry) => entry.isChanged && !entry.isNew);
      await clearMovedKeys(tx, changed);
      await updateEntries(tx, changed);
      await insertEntries(
        tx,
        scope,
        entries.filter((entry) => entry.isNew),
      );
      await insertLinks(tx, scope, newLinks);
    },
  };
}

type CustomerRow = Omit<Entry, 'isNew' | 'isChanged'>;

async function readEntries(tx: Transaction, scope: CustomerScope, drafts: CustomerDraft[]): Promise<Entry[]> {
  const rows = await tx.query<CustomerRow>(sql`
    select id, email, phone, first_name as "firstName", last_name as "lastName", company, address,
      created_at as "createdAt", updated_at as "updatedAt", email_key as "storedEmailKey", phone as "storedPhone"
    from customers
    where organization_id = ${scope.organizationId} and is_test = ${scope.isTest} and (
      email_key = any(${drafts.flatMap((draft) => (draft.email == null ? [] : [emailKey(draft.email)]))}::text[])
      or phone = any(${drafts.flatMap((draft) => draft.phone ?? [])}::text[])
      or id in (select customer_id from customer_external_ids
        where integration_id = ${scope.integrationId} and is_test = ${scope.isTest}
          and external_id = any(${drafts.flatMap((draft) => draft.externalId ?? [])}::text[])))`);
  return rows.map((row) => ({ ...row, isNew: false, isChanged: false }));
}

async function readLinks(
  tx: Transaction,
  scope: CustomerScope,
  drafts: CustomerDraft[],
  entries: Entry[],
): Promise<{ externalId: string; customerId: string }[]> {
  return await tx.query(sql`
    select external_id as "externalId", customer_id as "customerId" from customer_external_ids
    where integration_id = ${scope.integrationId} and is_test = ${scope.isTest}
      and (customer_id = any(${entries.map((entry) => entry.id)}::text[])
        or external_id = any(${drafts.flatMap((draft) => draft.externalId ?? [])}::text[]))`);
}

/** A key may pass from one customer to another within a batch; a unique index would see both at once. */
async function clearMovedKeys(tx: Transaction, entries: Entry[]): Promise<void> {
  const moved = entries.filter(
    (entry) =>
      (entry.storedEmailKey !== null && entry.storedEmailKey !== keyOf(entry)) ||
      (entry.storedPhone !== null && entry.storedPhone !== entry.phone),
  );
  if (moved.length === 0) return;
  await tx.query(sql`
    update customers set email_key = null, phone = null where id = any(${moved.map((entry) => entry.id)}::text[])`);
}

async function updateEntries(tx: Transaction, entries: Entry[]): Promise<void> {
  if (entries.length === 0) return;
  await tx.query(sql`
    update customers c set email = rows.email, email_key = rows.email_key, phone = rows.phone,
      first_name = rows.first_name, last_name = rows.last_name, company = rows.company, address = rows.address::jsonb,
      updated_at = rows.updated_at
    from unnest(
      ${entries.map((entry) => entry.id)}::text[], ${entries.map((entry) => entry.email)}::text[],
      ${entries.map(keyOf)}::text[], ${entries.map((entry) => entry.phone)}::text[],
      ${entries.map((entry) => entry.firstName)}::text[], ${entries.map((entry) => entry.lastName)}::text[],
      ${entries.map((entry) => entry.company)}::text[], ${entries.map(addressText)}::text[],
      ${entries.map((entry) => entry.updatedAt)}::timestamptz[])
      as rows (id, email, email_key, phone, first_name, last_name, company, address, updated_at)
    where c.id = rows.id`);
}

async function insertEntries(tx: Transaction, scope: CustomerScope, entries: Entry[]): Promise<void> {
  if (entries.length === 0) return;
  await tx.query(sql`
    insert into customers (id, organization_id, is_test, email, email_key, phone, first_name, last_name, company, address,
      created_at, updated_at)
    select id, ${scope.organizationId}, ${scope.isTest}, email, email_key, phone, first_name, last_name, company,
      address::jsonb, created_at, created_at
    from unnest(
      ${entries.map((entry) => entry.id)}::text[], ${entries.map((entry) => entry.email)}::text[],
      ${entries.map(keyOf)}::text[], ${entries.map((entry) => entry.phone)}::text[],
      ${entries.map((entry) => entry.firstName)}::text[], ${entries.map((entry) => entry.lastName)}::text[],
      ${entries.map((entry) => entry.company)}::text[], ${entries.map(addressText)}::text[],
      ${entries.map((entry) => entry.createdAt)}::timestamptz[])
      as rows (id, email, email_key, phone, first_name, last_name, company, address, created_at)`);
}

async function insertLinks(
  tx: Transaction,
  scope: CustomerScope,
  links: { externalId: string; customerId: string }[],
): Promise<void> {
  if (links.length === 0) return;
  await tx.query(sql`
    insert into customer_external_ids (integration_id, is_test, external_id, customer_id)
    select ${scope.integrationId}, ${scope.isTest}, external_id, customer_id
    from unnest(${links.map((link) => link.externalId)}::text[], ${links.map((link) => link.customerId)}::text[])
      as rows (external_id, customer_id)`);
}

function newEntry(now: Date): Entry {
  return {
    id: newId('customer'),
    email: null,
    phone: null,
    firstName: null,
    lastName: null,
    company: null,
    address: null,
    createdAt: now,
    updatedAt: now,
    isNew: true,
    isChanged: false,
    storedEmailKey: null,
    storedPhone: null,
  };
}

function keyOf(entry: Entry): string | null {
  return entry.email === null ? null : emailKey(entry.email);
}

function addressText(entry: Entry): string | null {
  return entry.address === null ? null : JSON.stringify(entry.address);
}

function index(entries: Entry[], keyOf: (entry: Entry) => string | null): Map<string, Entry> {
  return new Map(
    entries.flatMap((entry) => {
      const key = keyOf(entry);
      return key === null ? [] : [[key, entry] as const];
    }),
  );
}
