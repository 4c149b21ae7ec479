import { BULK_BODY_LIMIT_BYTES } from '../limits.ts';
import {
  BulkInput,
  BulkResult,
  bulkResultExample,
  Customer,
  CustomerInput,
  customerExample,
  customerInputExample,
} from '../resources/customer.ts';
import { type Operation, write } from './operation.ts';

export const customerOperations = {
  upsertCustomer: write({
    id: 'upsertCustomer',
    path: '/v1/customers',
    tag: 'Customers',
    summary: 'Create or update a customer',
    description:
      'Finds the customer by `external_id`, then by email, then by phone, and updates it, or creates it. A field that is absent keeps its value; null clears it.',
    cost: 2,
    body: CustomerInput,
    bodyExample: customerInputExample,
    success: { status: 201, description: 'The customer was created.', schema: Customer, example: customerExample },
    alsoSuccess: { status: 200, description: 'The customer was updated.' },
    errors: ['customer_contact_conflict', 'upsert_failed'],
  }),
  upsertCustomers: write({
    id: 'upsertCustomers',
    path: '/v1/customers/bulk',
    tag: 'Customers',
    summary: 'Create or update up to 1000 customers',
    description:
      'Takes 1 to 1000 records in their order, all or nothing: a record that fails is named in `param`, and nothing of the call is stored.',
    cost: 10,
    bodyLimitBytes: BULK_BODY_LIMIT_BYTES,
    body: BulkInput,
    bodyExample: { customers: [customerInputExample] },
    success: {
      status: 200,
      description: 'What became of each record.',
      schema: BulkResult,
      example: bulkResultExample,
    },
    errors: ['customer_contact_conflict', 'bulk_upsert_failed'],
  }),
} as const satisfies Record<string, Operation>;
