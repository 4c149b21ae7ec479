import { isDeepStrictEqual } from 'node:util';
import type { Actor } from '../audit/actor.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { DomainError } from '../contract/domain-error.ts';
import type { Address } from '../contract/resources/common.ts';
import type { Database, Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { clockTime } from '../db/sql-time.ts';
import { emailKey, parsePhone } from './customer-draft.ts';
import { rememberedContacts } from './former-contacts.ts';
import { PERSONAL_FIELDS } from './merged-fields.ts';
import { type CustomerDetails, readCustomer } from './read-customer.ts';
import { lockCustomers } from './upsert-customers.ts';

/** What a person corrected; what is absent stays. */
export type CustomerEdit = {
  email?: string | null;
  /** A phone number in any usual notation. */
  phone?: string | null;
  firstName?: string | null;
  lastName?: string | null;
  company?: string | null;
  address?: Address | null;
};

type Basis = {
  /** `updatedAt` of the customer that the form showed. */
  updatedAt: Date;
  /** The dealer's country, for phones without a country code. */
  country: string | null;
  /** The time, where a test owns it. */
  now: Date | null;
};

/**
 * Corrects what is known of a customer. Refused if something of the customer has changed since the form was filled, or if
 * the email or the phone is another customer's: those two are merged instead.
 */
export async function changeCustomer(
  db: Database,
  actor: Actor,
  organizationId: string,
  customerId: string,
  edit: CustomerEdit,
  { updatedAt, country, now }: Basis,
): Promise<void> {
  await db.transaction(async (tx) => {
    lockCustomers(tx, organizationId);
    const stored = await readCustomer(tx, organizationId, customerId);
    if (stored.updatedAt.getTime() !== updatedAt.getTime()) {
      throw new DomainError(
        'changed_meanwhile',
        'This customer has changed since you opened the form. Compare with what is there now, then save again.',
      );
    }
    const wanted = { ...stored, ...edit, phone: phoneOf(stored, edit, country) };
    const changed = PERSONAL_FIELDS.filter((field) => !isDeepStrictEqual(stored[field], wanted[field]));
    if (changed.length === 0) return;
    await refuseTaken(tx, organizationId, wanted);
    const replaced = (['email', 'phone'] as const)
      .filter((field) => changed.includes(field))
      .map((field) => stored[field]);
    await tx.query(sql`
      update customers set email = ${wanted.email}, email_key = ${wanted.email === null ? null : emailKey(wanted.email)},
        phone = ${wanted.phone}, first_name = ${wanted.firstName}, last_name = ${wanted.lastName},
        company = ${wanted.company}, address = ${wanted.address === null ? null : JSON.stringify(wanted.address)}::jsonb,
        former_contacts = ${rememberedContacts(sql`${replaced}`, sql`former_contacts`)},
        updated_at = greatest(date_trunc('milliseconds', ${clockTime(now)}), updated_at + interval '1 millisecond')
      where organization_id = ${organizationId} and id = ${customerId}`);
    await recordAudit(tx, actor, {
      organizationId,
      action: 'customer.changed',
      object: { kind: 'customer', id: customerId },
      personal: changed,
      at: now,
    });
  });
}

function phoneOf(stored: CustomerDetails, { phone }: CustomerEdit, country: string | null): string | null {
  if (phone === undefined) return stored.phone;
  if (phone === null) return null;
  const parsed = parsePhone(phone, country);
  if (parsed !== null) return parsed;
  throw new DomainError('invalid_input', 'That is not a phone number, such as +41 22 730 00 00.', 'phone');
}

/** An email or phone belongs to one customer at a time. */
async function refuseTaken(tx: Transaction, organizationId: string, wanted: CustomerDetails): Promise<void> {
  const { id, isTest, email, phone } = wanted;
  const key = email === null ? null : emailKey(email);
  const [other] = await tx.query<{ has_email: boolean }>(sql`
    select true as has_email from customers
    where organization_id = ${organizationId} and is_test = ${isTest} and email_key = ${key} and id <> ${id}
    union all
    select false from customers
    where organization_id = ${organizationId} and is_test = ${isTest} and phone = ${phone} and id <> ${id}`);
  if (other === undefined) return;
  const what = other.has_email ? 'email' : 'phone';
  throw new DomainError(
    'contact_taken',
    `Another customer has this ${what}. If both are one person, merge them instead.`,
    what,
  );
}
