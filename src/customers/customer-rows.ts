import type { Address } from '../contract/resources/common.ts';
import type { Transaction } from '../db/database.ts';
import { plannedAnew, type Sql, sql } from '../db/sql.ts';
import { unnestRows } from '../db/values/unnest-rows.ts';
import { addressOf, type CustomerDraft } from './customer-draft.ts';
import { rememberedContacts } from './former-contacts.ts';

/** Whose customers: the organization's, as one integration knows them, in one mode. */
export type CustomerScope = { organizationId: string; integrationId: string; isTest: boolean };

export type CustomerRecord = {
  id: string;
  email: string | null;
  emailKey: string | null;
  phone: string | null;
  firstName: string | null;
  lastName: string | null;
  company: string | null;
  address: Address | null;
  createdAt: Date;
  updatedAt: Date;
};

/** A customer as it was read. */
export type StoredCustomer = Readonly<CustomerRecord>;

/** Customers as they are to be stored, beside what is stored; links go from external id to customer. */
export type CustomerChanges = {
  entries: (CustomerRecord & { stored: StoredCustomer | null })[];
  links: Map<string, string>;
  storedLinks: Map<string, string>;
  /** Whom the drafts turned out to mean, changed or not. */
  upsertedIds: Set<string>;
};

const MANY = 50;

/** Customers that drafts may mean, and what the integration calls them: from external id to customer. */
export type FoundCustomers = { customers: StoredCustomer[]; links: Map<string, string> };

/**
 * The customers that drafts may mean. Each key is looked up for itself, through the index of its kind: the planner, which has
 * to choose before it knows the dealer, and perhaps before there are customers, may otherwise take an index of all the dealer's
 * customers and pass over those that are not meant. It did, and then nine tenths of an upsert beside 3,000 customers was this
 * search. So the dealer and the integration are compared as expressions, which are in no index.
 */
export async function readCustomers(
  tx: Transaction,
  scope: CustomerScope,
  drafts: CustomerDraft[],
): Promise<FoundCustomers> {
  const { organizationId, integrationId, isTest } = scope;
  const rows = await tx.query<CustomerRecord & { externalIds: string[] }>(sql`
    select id, email, email_key as "emailKey", phone, first_name as "firstName", last_name as "lastName", company, address,
      created_at as "createdAt", updated_at as "updatedAt",
      array(select e.external_id from customer_external_ids e
        where e.customer_id = c.id and (e.integration_id || '') = ${integrationId} and e.is_test = ${isTest}
        order by e.external_id) as "externalIds"
    from customers c
    where organization_id = ${organizationId} and id = any(array(
      select found.id from unnest(${keysOf(drafts, ({ emailKey }) => emailKey)}::text[]) as asked (key),
        lateral (select id from customers
          where email_key = asked.key and (organization_id || '') = ${organizationId} and is_test = ${isTest} offset 0) found
      union all
      select found.id from unnest(${keysOf(drafts, ({ phone }) => phone)}::text[]) as asked (key),
        lateral (select id from customers
          where phone = asked.key and (organization_id || '') = ${organizationId} and is_test = ${isTest} offset 0) found
      union all
      select found.customer_id from unnest(${keysOf(drafts, ({ externalId }) => externalId)}::text[]) as asked (key),
        lateral (select customer_id from customer_external_ids
          where integration_id = ${integrationId} and is_test = ${isTest} and external_id = asked.key offset 0) found))`);
  return {
    // jsonb has an order of its own for the fields.
    customers: rows.map(({ externalIds: _, ...row }) => ({
      ...row,
      address: row.address === null ? null : addressOf(row.address),
    })),
    links: new Map(rows.flatMap(({ id, externalIds }) => externalIds.map((externalId) => [externalId, id] as const))),
  };
}

function keysOf(drafts: CustomerDraft[], keyOf: (draft: CustomerDraft) => string | null | undefined): string[] {
  return [...new Set(drafts.flatMap((draft) => keyOf(draft) ?? []))];
}

export async function writeCustomers(tx: Transaction, scope: CustomerScope, changes: CustomerChanges): Promise<void> {
  const { entries, links, storedLinks, upsertedIds } = changes;
  const changed = entries.filter(({ stored, updatedAt }) => stored !== null && stored.updatedAt !== updatedAt);
  clearMovedKeys(tx, changed);
  const added = entries.filter((entry) => entry.stored === null);
  const statements = [
    ...inParts(changed).map((part) => updateStatement(part)),
    ...inParts(added).map((part) => insertStatement(scope, part)),
  ];
  // Each part for itself, so that other clients come between; the last goes with the commit.
  const last = statements.pop();
  for (const statement of statements) await tx.query(statement);
  if (last !== undefined) tx.defer(last);
  deleteLinks(
    tx,
    scope,
    [...storedLinks.keys()].filter((externalId) => !links.has(externalId)),
  );
  upsertLinks(
    tx,
    scope,
    [...links].filter(([externalId, customerId]) => storedLinks.get(externalId) !== customerId),
  );
  if (scope.isTest) noteTestCustomers(tx, scope, [...upsertedIds]);
}

/**
 * How much text one statement writes. The driver prepares it in one go: a thousand customers of the largest size kept the
 * event loop from everybody else for 100 ms.
 */
const STATEMENT_CHARACTERS = 131_072;

function* inParts(customers: CustomerRecord[]): Generator<CustomerRecord[]> {
  let part: CustomerRecord[] = [];
  let characters = 0;
  for (const customer of customers) {
    part.push(customer);
    characters += charactersOf(customer);
    if (characters < STATEMENT_CHARACTERS) continue;
    yield part;
    part = [];
    characters = 0;
  }
  if (part.length > 0) yield part;
}

function charactersOf({ email, phone, firstName, lastName, company, address }: CustomerRecord): number {
  const texts = [email, email, phone, firstName, lastName, company, ...Object.values(address ?? {})];
  return texts.reduce((sum, text) => sum + (text?.length ?? 0), 0);
}

/** A key may pass from one customer to another within a batch; a unique index would see both at once. */
function clearMovedKeys(tx: Transaction, entries: CustomerChanges['entries']): void {
  const moved = entries.flatMap(({ id, stored, emailKey, phone }) => {
    if (stored === null) return [];
    const formerEmail = stored.emailKey === emailKey ? null : stored.email;
    const formerPhone = stored.phone === phone ? null : stored.phone;
    const hasMoved = stored.phone !== phone || stored.emailKey !== emailKey;
    return hasMoved ? [{ id, formerEmail, formerPhone }] : [];
  });
  if (moved.length === 0) return;
  tx.defer(sql`
    update customers c set email_key = null, phone = null,
      former_contacts = ${rememberedContacts(sql`array[moved.former_email, moved.former_phone]`, sql`c.former_contacts`)}
    from ${unnestRows('moved', moved, MOVED_COLUMNS)} where c.id = moved.id`);
}

function updateStatement(customers: CustomerRecord[]): Sql {
  const statement = sql`
    update customers c set email = rows.email, email_key = rows.email_key, phone = rows.phone,
      first_name = rows.first_name, last_name = rows.last_name, company = rows.company, address = rows.address::jsonb,
      updated_at = ${customers[0]?.updatedAt}
    from ${asRows(customers)} where c.id = rows.id`;
  return planned(statement, customers.length);
}

function insertStatement(scope: CustomerScope, customers: CustomerRecord[]): Sql {
  const createdAt = customers[0]?.createdAt;
  return sql`
    insert into customers (id, organization_id, is_test, email, email_key, phone, first_name, last_name, company, address,
      created_at, updated_at)
    select id, ${scope.organizationId}, ${scope.isTest}, email, email_key, phone, first_name, last_name, company,
      address::jsonb, ${createdAt}, ${createdAt}
    from ${asRows(customers)}`;
}

const CUSTOMER_COLUMNS = {
  id: 'text',
  email: 'text',
  emailKey: 'text',
  phone: 'text',
  firstName: 'text',
  lastName: 'text',
  company: 'text',
  address: 'text',
} as const;
const MOVED_COLUMNS = { id: 'text', formerEmail: 'text', formerPhone: 'text' } as const;
const LINK_COLUMNS = { externalId: 'text', customerId: 'text' } as const;

/** Everything but the times, which are the same for all that one batch writes. */
function asRows(customers: CustomerRecord[]): Sql {
  const rows = customers.map((customer) => ({
    ...customer,
    address: addressText(customer),
  }));
  return unnestRows('rows', rows, CUSTOMER_COLUMNS);
}

function deleteLinks(tx: Transaction, scope: CustomerScope, externalIds: string[]): void {
  if (externalIds.length === 0) return;
  tx.defer(sql`
    delete from customer_external_ids
    where integration_id = ${scope.integrationId} and is_test = ${scope.isTest}
      and external_id = any(${externalIds}::text[])`);
}

/** An integration that came from another dealer may have used the same external id there; it means its own now. */
function upsertLinks(tx: Transaction, scope: CustomerScope, links: [string, string][]): void {
  if (links.length === 0) return;
  const rows = links.map(([externalId, customerId]) => ({ externalId, customerId }));
  tx.defer(sql`
    insert into customer_external_ids (integration_id, is_test, external_id, customer_id)
    select ${scope.integrationId}, ${scope.isTest}, external_id, customer_id
    from ${unnestRows('rows', rows, LINK_COLUMNS)}
    on conflict (integration_id, is_test, external_id) do update set customer_id = excluded.customer_id`);
}

/** Whose tests a customer is part of: it is deleted with the last of them. */
function noteTestCustomers(tx: Transaction, scope: CustomerScope, customerIds: string[]): void {
  tx.defer(sql`
    insert into test_customers (customer_id, integration_id)
    select customer_id, ${scope.integrationId} from unnest(${customerIds}::text[]) as rows (customer_id)
    on conflict do nothing`);
}

/** For a few the plan that the server keeps is as good, and spares the planning. */
function planned(statement: Sql, count: number): Sql {
  return count < MANY ? statement : plannedAnew(statement);
}

function addressText({ address }: CustomerRecord): string | null {
  return address === null ? null : JSON.stringify(address);
}
