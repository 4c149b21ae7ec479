import { isDeepStrictEqual } from 'node:util';
import { customersLock, lockByName } from '../db/advisory-locks.ts';
import type { Transaction } from '../db/database.ts';
import { newId } from '../ids/new-id.ts';
import type { CustomerDraft } from './customer-draft.ts';
import {
  type CustomerRecord,
  type CustomerScope,
  readCustomers,
  type StoredCustomer,
  writeCustomers,
} from './customer-rows.ts';

export type Upserted =
  | { result: 'created' | 'updated'; customer: CustomerRecord; externalId: string | null }
  | ({ result: 'conflict' } & ContactConflict);

/** Which contact of a draft belongs to somebody else. */
type ContactConflict = { reason: string; field: 'email' | 'phone' };

/**
 * The customers that several drafts may concern, read together. The drafts are applied in memory one after the other,
 * as if each had its own statement, and the result is written together. The caller holds the organization's lock.
 */
export type CustomerUpserts = {
  /** The customer that a draft identifies; null for none or several. */
  identify(draft: CustomerDraft): string | null;
  upsert(draft: CustomerDraft): Upserted;
  write(): Promise<void>;
};

/**
 * One writer at a time for each organization: two batches with the same people in other orders can't deadlock. The lock is
 * taken before the transaction's next query.
 */
export function lockCustomers(tx: Transaction, organizationId: string): void {
  tx.defer(lockByName(customersLock(organizationId)));
}

/** A customer as the drafts leave it; `stored` is what the database has, null for a new one. */
type Entry = CustomerRecord & { stored: StoredCustomer | null };

export async function openCustomerUpserts(
  tx: Transaction,
  scope: CustomerScope,
  drafts: CustomerDraft[],
  now: Date,
): Promise<CustomerUpserts> {
  const { customers: stored, links: storedLinks } = await readCustomers(tx, scope, drafts);
  const entries: Entry[] = stored.map((customer) => ({ ...customer, stored: customer }));
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const byEmail = index(entries, (entry) => entry.emailKey);
  const byPhone = index(entries, (entry) => entry.phone);
  /** Which customer the integration means by an external id, and the other way round. */
  const links = new Map(storedLinks);
  const externalIdOf = new Map([...storedLinks].map(([externalId, customerId]) => [customerId, externalId]));
  const upsertedIds = new Set<string>();

  function find(draft: CustomerDraft): { found: Entry | undefined; conflict: ContactConflict | null } {
    const linked = draft.externalId == null ? undefined : byId.get(links.get(draft.externalId) ?? '');
    const withEmail = draft.emailKey == null ? undefined : byEmail.get(draft.emailKey);
    const withPhone = draft.phone == null ? undefined : byPhone.get(draft.phone);
    return { found: linked ?? withEmail ?? withPhone, conflict: conflictOf(draft, linked, withEmail, withPhone) };
  }

  function upsert(draft: CustomerDraft): Upserted {
    const { found, conflict } = find(draft);
    if (conflict !== null) return { result: 'conflict', ...conflict };

    const entry = found ?? newEntry();
    upsertedIds.add(entry.id);
    const before = { ...entry, externalId: externalIdOf.get(entry.id) };
    apply(entry, draft);
    if (draft.externalId === null) unlink(entry);
    else if (draft.externalId !== undefined) link(entry, draft.externalId);
    if (!isSame(before, entry) || before.externalId !== externalIdOf.get(entry.id)) entry.updatedAt = now;
    return {
      result: found === undefined ? 'created' : 'updated',
      customer: { ...entry },
      externalId: draft.externalId ?? externalIdOf.get(entry.id) ?? null,
    };
  }

  function conflictOf(
    draft: CustomerDraft,
    linked?: Entry,
    withEmail?: Entry,
    withPhone?: Entry,
  ): ContactConflict | null {
    if (withEmail !== undefined && withPhone !== undefined && withEmail !== withPhone) {
      // The one that does not fit what is found first.
      const field = linked !== undefined && linked !== withEmail ? 'email' : 'phone';
      return { field, reason: 'The email and the phone belong to two different customers.' };
    }
    const contact = withEmail ?? withPhone;
    if (contact === undefined) return null;
    const field = withEmail === undefined ? 'phone' : 'email';
    if (linked !== undefined) {
      return contact === linked ? null : { field, reason: `The ${field} belongs to another customer.` };
    }
    if (draft.externalId != null && externalIdOf.has(contact.id)) {
      return { field, reason: `The ${field} belongs to a customer with another external_id.` };
    }
    return null;
  }

  function apply(entry: Entry, draft: CustomerDraft): void {
    if (draft.email !== undefined) {
      if (entry.emailKey !== null) byEmail.delete(entry.emailKey);
      entry.email = draft.email;
      entry.emailKey = draft.emailKey ?? null;
      if (entry.emailKey !== null) byEmail.set(entry.emailKey, entry);
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
  }

  function link(entry: Entry, externalId: string): void {
    links.set(externalId, entry.id);
    externalIdOf.set(entry.id, externalId);
  }

  /** After a merge a customer may have several. */
  function unlink(entry: Entry): void {
    for (const [externalId, customerId] of links) if (customerId === entry.id) links.delete(externalId);
    externalIdOf.delete(entry.id);
  }

  function newEntry(): Entry {
    const nobody = {
      email: null,
      emailKey: null,
      phone: null,
      firstName: null,
      lastName: null,
      company: null,
      address: null,
    };
    const entry = { id: newId('customer'), ...nobody, createdAt: now, updatedAt: now, stored: null };
    entries.push(entry);
    byId.set(entry.id, entry);
    return entry;
  }

  return {
    identify(draft) {
      const { found, conflict } = find(draft);
      return conflict === null ? (found?.id ?? null) : null;
    },
    upsert,
    write: () => writeCustomers(tx, scope, { entries, links, storedLinks, upsertedIds }),
  };
}

function isSame(one: CustomerRecord, other: CustomerRecord): boolean {
  return (
    one.email === other.email &&
    one.phone === other.phone &&
    one.firstName === other.firstName &&
    one.lastName === other.lastName &&
    one.company === other.company &&
    isDeepStrictEqual(one.address, other.address)
  );
}

function index(entries: Entry[], keyOf: (entry: Entry) => string | null): Map<string, Entry> {
  return new Map(
    entries.flatMap((entry) => {
      const key = keyOf(entry);
      return key === null ? [] : [[key, entry] as const];
    }),
  );
}
