import type { Static } from 'typebox';
import type {
  CustomerConflict as ConflictShape,
  CustomerPage,
  CustomerRow,
  Erasure,
  MergePreview as PreviewShape,
} from '../../../contract/dashboard/orders/customers.ts';
import type { ListedCustomer } from '../../../customers/list-customers.ts';
import type { MergedField } from '../../../customers/merged-fields.ts';
import type { CustomerDetails, CustomerLink } from '../../../customers/read-customer.ts';
import type { CustomerConflict } from '../../../sales/customers/customer-conflicts.ts';
import type { CustomerSpend } from '../../../sales/customers/customer-spend.ts';
import type { MergePreview } from '../../../sales/customers/merge-preview.ts';
import type { ErasureProgress } from '../../../sales/erasure/erasure-progress.ts';
import { fullName, presentCustomer } from './order-presenters.ts';

/** Customers as their pages show them. Every public field is named here. */

/** The names of the dealer's channels, by their ids. */
type Channels = ReadonlyMap<string, string>;

export function presentCustomerRow(
  row: ListedCustomer,
  spend: CustomerSpend | undefined,
  links: readonly CustomerLink[],
  channels: Channels,
): Static<typeof CustomerRow> {
  const ids = [...new Set(links.map(({ integrationId }) => integrationId))];
  return {
    ...presentCustomer(row),
    company: row.company,
    is_test: row.isTest,
    channels: ids.flatMap((id) => {
      const name = channels.get(id);
      return name === undefined ? [] : [{ integration_id: id, name }];
    }),
    orders: presentCount(spend),
    spent: presentSpent(spend),
    created_at: row.createdAt.toISOString(),
  };
}

export function presentErasure(erasure: ErasureProgress): Static<typeof Erasure> {
  return {
    id: erasure.id,
    is_done: erasure.isDone,
    step: erasure.step,
    steps: erasure.steps,
    looked_at: erasure.lookedAt,
    changed: erasure.changed,
    error: erasure.error,
    created_at: erasure.createdAt.toISOString(),
    finished_at: erasure.finishedAt?.toISOString() ?? null,
  };
}

export function presentCustomerPage(
  customer: CustomerDetails,
  spend: CustomerSpend | undefined,
  links: readonly CustomerLink[],
  channels: Channels,
): CustomerPage {
  const { name } = presentCustomer(customer);
  return {
    id: customer.id,
    name,
    is_test: customer.isTest,
    email: customer.email,
    phone: customer.phone,
    first_name: customer.firstName,
    last_name: customer.lastName,
    company: customer.company,
    address: customer.address,
    links: links.map((link) => presentLink(link, channels)),
    orders: presentCount(spend),
    last_order_at: spend?.lastOrderAt?.toISOString() ?? null,
    spent: presentSpent(spend),
    created_at: customer.createdAt.toISOString(),
    updated_at: customer.updatedAt.toISOString(),
  };
}

export function presentConflict(conflict: CustomerConflict, channels: Channels): Static<typeof ConflictShape> {
  const { order, customers, isDecidedByMerge } = conflict;
  const { buyer } = order;
  return {
    order: {
      id: order.id,
      channel_order_id: order.channelOrderId,
      channel_name: channels.get(order.integrationId) ?? null,
      is_test: order.isTest,
      created_at: order.createdAt.toISOString(),
    },
    buyer: {
      name: fullName(buyer?.first_name, buyer?.last_name),
      email: buyer?.email ?? null,
      phone: buyer?.phone ?? null,
      external_id: buyer?.external_id ?? null,
    },
    customers: customers.map((customer) => presentCustomer({ ...customer, isTest: order.isTest })),
    is_decided_by_merge: isDecidedByMerge,
  };
}

export function presentMergePreview(preview: MergePreview, channels: Channels): PreviewShape {
  return {
    kept: presentCustomer(preview.kept),
    merged: presentCustomer(preview.merged),
    fields: preview.fields.map(presentField),
    moved_orders: presentCount(preview.moved),
    moved_links: preview.movedLinks.map((link) => presentLink(link, channels)),
    resolved_orders: preview.resolvedOrders,
  };
}

const FIELD_NAMES = {
  email: 'email',
  phone: 'phone',
  firstName: 'first_name',
  lastName: 'last_name',
  company: 'company',
} as const;

function presentField(one: MergedField): PreviewShape['fields'][number] {
  if (one.field === 'address') {
    const { kept, merged, result } = one;
    return { field: 'address', kept, merged, result };
  }
  const { field, kept, merged, result } = one;
  return { field: FIELD_NAMES[field], kept, merged, result };
}

function presentLink({ integrationId, externalId }: CustomerLink, channels: Channels) {
  return {
    integration_id: integrationId,
    channel_name: channels.get(integrationId) ?? null,
    external_id: externalId,
  };
}

function presentCount(spend: CustomerSpend | undefined) {
  return { value: spend?.orderCount ?? 0, is_capped: spend?.isCapped ?? false };
}

function presentSpent(spend: CustomerSpend | undefined) {
  return spend?.spent?.map(({ amount, currency }) => ({ amount, currency })) ?? null;
}
