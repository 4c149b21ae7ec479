import { ApiError } from '../../../contract/errors.ts';
import type { OPERATIONS } from '../../../contract/operations.ts';
import type { BulkResult, Customer } from '../../../contract/resources/customer.ts';
import { lockCustomers, openCustomerBook, type Upserted } from '../../../customers/customer-book.ts';
import { draftCustomer } from '../../../customers/customer-draft.ts';
import type { CustomerRecord, CustomerScope } from '../../../customers/customer-rows.ts';
import { holdIntegration } from '../../../dealers/integrations.ts';
import type { AdmittedIntegration } from '../admit.ts';
import type { Handler } from '../handler.ts';
import { writeOnce } from '../writes/execute-write.ts';

export const upsertCustomer: Handler<typeof OPERATIONS.upsertCustomer> = async (call) => {
  const { context, integration, body } = call;
  const scope = scopeOf(integration);
  return await writeOnce(call, { failure: 'upsert_failed', turn: turnOf(scope) }, async (tx) => {
    // Not before a replay is ruled out: a phone is read by the country that the dealer has today.
    const draft = draftCustomer(body, integration.country, '');
    await lockCustomers(tx, scope.organizationId);
    await holdIntegration(tx, scope.integrationId, scope.organizationId);
    const book = await openCustomerBook(tx, scope, [draft], nowOf(context.channel.now(), integration));
    const outcome = accepted(book.upsert(draft), undefined);
    await book.write();
    return {
      status: outcome.result === 'created' ? 201 : 200,
      body: JSON.stringify(presentCustomer(outcome.customer, outcome.externalId, scope.isTest)),
      isTest: scope.isTest,
    };
  });
};

export const upsertCustomers: Handler<typeof OPERATIONS.upsertCustomers> = async (call) => {
  const { context, integration, body } = call;
  const scope = scopeOf(integration);
  return await writeOnce(call, { failure: 'bulk_upsert_failed', turn: turnOf(scope) }, async (tx) => {
    const drafts = body.customers.map((customer, index) =>
      draftCustomer(customer, integration.country, `customers[${index}].`),
    );
    await lockCustomers(tx, scope.organizationId);
    await holdIntegration(tx, scope.integrationId, scope.organizationId);
    const book = await openCustomerBook(tx, scope, drafts, nowOf(context.channel.now(), integration));
    const outcomes = drafts.map((draft, index) => accepted(book.upsert(draft), `customers[${index}]`));
    await book.write();
    return { status: 200, body: JSON.stringify(presentBulk(outcomes)), isTest: scope.isTest };
  });
};

type Accepted = Exclude<Upserted, { result: 'conflict' }>;

function accepted(outcome: Upserted, param: string | undefined): Accepted {
  if (outcome.result !== 'conflict') return outcome;
  throw new ApiError('customer_contact_conflict', {
    message: outcome.reason,
    ...(param === undefined ? {} : { param }),
  });
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

/** The dealer's customers are locked as a whole. */
function turnOf({ organizationId }: CustomerScope): string {
  return `customers ${organizationId}`;
}

function nowOf(testTime: Date | null, integration: AdmittedIntegration): Date {
  return testTime ?? new Date(integration.nowMs);
}
