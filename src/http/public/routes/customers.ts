import type { ChannelContext } from '../../../channel/context.ts';
import { eventLoopSlices, mapSteps, type Steps } from '../../../concurrency/time-slices.ts';
import { ApiError } from '../../../contract/errors.ts';
import type { OPERATIONS } from '../../../contract/operations.ts';
import type { BulkResult, Customer, CustomerInput } from '../../../contract/resources/customer.ts';
import { draftCustomer } from '../../../customers/customer-draft.ts';
import type { CustomerRecord, CustomerScope } from '../../../customers/customer-rows.ts';
import { lockCustomers, openCustomerUpserts, type Upserted } from '../../../customers/upsert-customers.ts';
import type { Transaction } from '../../../db/database.ts';
import { shareOf } from '../../../dealers/integrations/admission.ts';
import { lockAttachment } from '../../../dealers/integrations/attach-integration.ts';
import type { AdmittedIntegration } from '../authentication.ts';
import type { Handler } from '../handler.ts';
import { answerWrite } from '../writes/answer-write.ts';
import { isRefusal, orRefusal, type WriteItem, type WriteKind } from '../writes/write-kind.ts';

const customerUpsert: WriteKind<CustomerInput> = {
  failureCode: 'upsert_failed',
  lockOf: customersLock,
  batchLimit: 25,
  transaction: { planning: 'once' },
  async work(tx, channel, items) {
    // Not before a replay is ruled out: a phone is read by the country that the dealer has today.
    const drafts = items.map(({ input, integration }) =>
      orRefusal(() => draftCustomer(input, integration.country, '')),
    );
    const scope = scopeOf(items[0].integration);
    lockCustomers(tx, scope.organizationId);
    const accepted = drafts.flatMap((draft) => (isRefusal(draft) ? [] : [draft]));
    const [, upserts] = await Promise.all([
      assertAttached(tx, scope),
      openCustomerUpserts(tx, scope, accepted, timeOf(channel, items)),
    ]);
    const results = drafts.map((draft) => {
      if (isRefusal(draft)) return draft;
      const outcome = upserts.upsert(draft);
      if (outcome.result === 'conflict') return contactConflict(outcome);
      return {
        status: outcome.result === 'created' ? 201 : 200,
        body: JSON.stringify(presentCustomer(outcome.customer, outcome.externalId, scope.isTest)),
        isTest: scope.isTest,
      };
    });
    await upserts.write();
    return { results, touched: [] };
  },
};

/** One call is a batch already. */
const bulkUpsert: WriteKind<CustomerInput[]> = {
  failureCode: 'bulk_upsert_failed',
  lockOf: customersLock,
  batchLimit: 1,
  async work(tx, channel, items) {
    const [{ input, integration }] = items;
    const scope = scopeOf(integration);
    const inSlices = <Result>(steps: Steps<Result>) => eventLoopSlices.run(shareOf(integration), steps);
    const { country } = integration;
    const drafts = await inSlices(
      mapSteps(input, (customer, index) => draftCustomer(customer, country, `customers[${index}].`)),
    );
    lockCustomers(tx, scope.organizationId);
    const [, upserts] = await Promise.all([
      assertAttached(tx, scope),
      openCustomerUpserts(tx, scope, drafts, timeOf(channel, items)),
    ]);
    const outcomes = await inSlices(
      mapSteps(drafts, (draft, index) => {
        const outcome = upserts.upsert(draft);
        if (outcome.result === 'conflict') {
          throw contactConflict(outcome, `customers[${index}].`);
        }
        return outcome;
      }),
    );
    await upserts.write();
    const body = JSON.stringify(presentBulk(outcomes));
    return { results: [{ status: 200, body, isTest: scope.isTest }], touched: [] };
  },
};

export const upsertCustomer: Handler<typeof OPERATIONS.upsertCustomer> = (call) =>
  answerWrite(call, customerUpsert, call.body);

export const upsertCustomers: Handler<typeof OPERATIONS.upsertCustomers> = (call) =>
  answerWrite(call, bulkUpsert, call.body.customers);

type Accepted = Exclude<Upserted, { result: 'conflict' }>;

function contactConflict({ reason, field }: Extract<Upserted, { result: 'conflict' }>, path = ''): ApiError {
  return new ApiError('customer_contact_conflict', { message: reason, param: `${path}${field}` });
}

function presentCustomer(customer: CustomerRecord, externalId: string | null, isTest: boolean): Customer {
  return {
    id: customer.id,
    object: 'customer',
    is_test: isTest,
    external_id: externalId,
    email: customer.email,
    phone: customer.phone,
    first_name: customer.firstName,
    last_name: customer.lastName,
    company: customer.company,
    address: customer.address,
    created_at: customer.createdAt.toISOString(),
    updated_at: customer.updatedAt.toISOString(),
  };
}

function presentBulk(outcomes: Accepted[]): BulkResult {
  const created = outcomes.filter((outcome) => outcome.result === 'created').length;
  return {
    object: 'bulk_result',
    bulk_result: { total: outcomes.length, created, updated: outcomes.length - created },
    data: outcomes.map((outcome, index) => ({
      index,
      id: outcome.customer.id,
      external_id: outcome.externalId,
      result: outcome.result,
    })),
  };
}

function scopeOf(integration: AdmittedIntegration): CustomerScope {
  const { organizationId, integrationId, isTestMode } = integration;
  return { organizationId, integrationId, isTest: isTestMode };
}

/**
 * A write that waited while its integration was detached or deleted is refused like one that comes afterwards. If the integration
 * is another dealer's now, a retry is that dealer's.
 */
async function assertAttached(tx: Transaction, { integrationId, organizationId }: CustomerScope): Promise<void> {
  const attachedTo = await lockAttachment(tx, integrationId);
  if (attachedTo === null) throw new ApiError('integration_org_missing');
  if (attachedTo !== organizationId) throw new Error(`integration ${integrationId} is another dealer's now`);
}

/** The dealer's customers are locked as a whole. */
function customersLock({ organizationId }: AdmittedIntegration): string {
  return `customers ${organizationId}`;
}

/** The time at which the last of them was admitted. */
function timeOf(channel: ChannelContext, items: WriteItem<unknown>[]): Date {
  return channel.now() ?? new Date(Math.max(...items.map(({ integration }) => integration.nowMs)));
}
