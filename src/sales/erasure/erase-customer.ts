import type { Actor } from '../../audit/actor.ts';
import { newValuesOf } from '../../audit/changed-values.ts';
import { recordAudit } from '../../audit/record-audit.ts';
import { readClocks } from '../../channel/clock.ts';
import type { ChannelContext } from '../../channel/context.ts';
import { emailKey, identifiesSomebody } from '../../customers/customer-draft.ts';
import { type EmptiedCustomer, emptyCustomer } from '../../customers/empty-customer.ts';
import { takenContacts } from '../../customers/find-customers.ts';
import { PERSONAL_FIELDS } from '../../customers/merged-fields.ts';
import { lockCustomers } from '../../customers/upsert-customers.ts';
import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { integrationsOfDealer } from '../../dealers/integrations/integrations.ts';
import { newId } from '../../ids/new-id.ts';

/**
 * Erasing a person has two parts. The first is one small commit: the customer is empty, and nobody finds it any more. The
 * second is a persisted job that empties the orders, events and stored answers in batches (run-erasures.ts).
 */
export type ErasedPerson = {
  /** The customer, and those that were merged into it. */
  customerIds: string[];
  /** Emails and phones, also former ones. Those of the person's orders are added when the orders are emptied. */
  contacts: string[];
  /** Other words about the person, which are looked for only beside a contact: a name alone may be a watch's. */
  words: string[];
  links: { integrationId: string; externalId: string }[];
  /**
   * How far the clock of each channel was, by integration. An order of the same person with a later stamp came in after the
   * erasure, and stays.
   */
  clocks: Record<string, string>;
};

/** Merges of merges that are followed. */
const MERGE_DEPTH_LIMIT = 20;

/** Erases a person for ever. Refused as missing if somebody else has just done it. Returns the id of the job. */
export async function eraseCustomer(
  context: ChannelContext,
  actor: Actor,
  organizationId: string,
  customerId: string,
): Promise<string> {
  const jobId = newId('job');
  await context.db.transaction(async (tx) => {
    // No order with a buyer can come in meanwhile, and nobody merges the customer.
    lockCustomers(tx, organizationId);
    const emptied = await emptyCustomer(tx, organizationId, customerId, context.now());
    const person = await personOf(tx, organizationId, emptied);
    await tx.query(sql`
      insert into erasure_jobs (id, organization_id, customer_id, is_test, person)
      values (${jobId}, ${organizationId}, ${customerId}, ${emptied.customer.isTest}, ${JSON.stringify(person)}::jsonb)`);
    await recordAudit(tx, actor, {
      organizationId,
      action: 'customer.erased',
      object: { kind: 'customer', id: customerId },
      personal: [...PERSONAL_FIELDS],
      at: context.now(),
    });
  });
  return jobId;
}

async function personOf(
  tx: Transaction,
  organizationId: string,
  { customer, formerContacts, links }: EmptiedCustomer,
): Promise<ErasedPerson> {
  const { firstName, lastName, company, address } = customer;
  const names = firstName === null || lastName === null ? [] : [`${firstName} ${lastName}`, `${lastName} ${firstName}`];
  const clocks = await readClocks(tx, await integrationsOfDealer(tx, organizationId));
  return {
    customerIds: await withMerged(tx, organizationId, customer.id),
    contacts: [
      ...[customer.email, customer.phone].filter((contact) => contact !== null),
      ...(await ownContacts(tx, organizationId, formerContacts)),
    ],
    words: [...names, company, address?.line1 ?? null].filter((word) => word !== null),
    links: links.map(({ integrationId, externalId }) => ({ integrationId, externalId })),
    clocks: Object.fromEntries([...clocks].map(([id, stamp]) => [id, stamp.toISOString()])),
  };
}

/**
 * Those of some contacts by which the person may be looked for. One that identifies nobody may stand in the orders of anybody. One
 * that another customer has is not the person's: an email may have been corrected, or an order of somebody else have been given
 * to the customer.
 */
export async function ownContacts(tx: Transaction, organizationId: string, contacts: string[]): Promise<string[]> {
  const identifying = [...new Set(contacts)].filter(identifiesSomebody);
  const taken = await takenContacts(tx, organizationId, identifying);
  return identifying.filter((contact) => !taken.has(emailKey(contact)));
}

/** Answers and events from before a merge name the customer that is gone. */
async function withMerged(tx: Transaction, organizationId: string, customerId: string): Promise<string[]> {
  const known = new Set([customerId]);
  let newest = [customerId];
  for (let depth = 0; depth < MERGE_DEPTH_LIMIT && newest.length > 0; depth++) {
    const filter = { action: 'customer.merged', objectIds: newest, field: 'mergedId' } as const;
    newest = (await newValuesOf(tx, organizationId, filter)).filter((id) => !known.has(id));
    for (const id of newest) known.add(id);
  }
  return [...known];
}
