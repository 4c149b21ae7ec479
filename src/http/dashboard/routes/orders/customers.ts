import { Readable } from 'node:stream';
import { cappedCount, LONG_LIST_COUNT_LIMIT } from '../../../../contract/dashboard/list.ts';
import type { customerOperations } from '../../../../contract/dashboard/orders/customers.ts';
import { textOrNull } from '../../../../contract/resources/customer.ts';
import { changeCustomer } from '../../../../customers/change-customer.ts';
import { addressOf } from '../../../../customers/customer-draft.ts';
import { countCustomers, listCustomers } from '../../../../customers/list-customers.ts';
import { linksOfCustomers, readCustomer } from '../../../../customers/read-customer.ts';
import { listChannels } from '../../../../dealers/integrations/integrations.ts';
import { countConflicts, listConflicts } from '../../../../sales/customers/customer-conflicts.ts';
import { LISTED_ORDERS_LIMIT, spendOfCustomers } from '../../../../sales/customers/customer-spend.ts';
import { exportCustomer } from '../../../../sales/customers/export-customer.ts';
import { mergeCustomers } from '../../../../sales/customers/merge-customers.ts';
import { previewMerge } from '../../../../sales/customers/merge-preview.ts';
import { eraseCustomer } from '../../../../sales/erasure/erase-customer.ts';
import { listErasures } from '../../../../sales/erasure/erasure-progress.ts';
import type { DashboardContext, Handlers, SignedIn } from '../../call.ts';
import { pacedPieces } from '../../limits/file-pace.ts';
import { sendCsv } from '../../lists/csv-export.ts';
import { countryOf, customerFilterOf } from '../../lists/customer-filter.ts';
import { pageRequestOf, presentCount, readPage, sortOf } from '../../lists/list-page.ts';
import {
  presentConflict,
  presentCustomerPage,
  presentCustomerRow,
  presentErasure,
  presentMergePreview,
} from '../../presenters/customer-presenters.ts';
import { CUSTOMER_HEADER, customerCells } from '../../presenters/export-cells.ts';
import { modesOf } from '../../presenters/order-presenters.ts';
import { withWireFields } from '../../wire-fields.ts';

const SORTS = ['-created', 'created'] as const;
const CONFLICTS_LIMIT = 100;
const ERASURES_LIMIT = 50;

export const customerHandlers: Handlers<typeof customerOperations> = {
  async listCustomers({ context, user, query }) {
    const { db } = context;
    const sort = sortOf(query.sort, SORTS);
    const request = pageRequestOf(query, sort);
    const channels = await channelNames(context, user);
    const filter = await customerFilterOf(context, user, {
      search: query.q ?? '',
      isTest: modesOf(user, query.test),
    });
    const wanted = { ...filter, isDescending: sort === '-created', start: request.from, limit: request.limit + 1 };
    const { rows, page } = await readPage(request, sort, {
      read: () => listCustomers(db, wanted),
      count: () => countCustomers(db, filter),
      positionOf: ({ id }) => ({ value: null, id }),
    });
    const ids = rows.map(({ id }) => id);
    const [spend, links] = await Promise.all([
      spendOfCustomers(db, ids, LISTED_ORDERS_LIMIT),
      linksOfCustomers(db, ids),
    ]);
    const linksById = Map.groupBy(links, ({ customerId }) => customerId);
    return {
      data: rows.map((row) => presentCustomerRow(row, spend.get(row.id), linksById.get(row.id) ?? [], channels)),
      ...page,
    };
  },

  async listCustomerConflicts({ context, user, query }) {
    const { organizationId } = user;
    const modes = modesOf(user, query.test);
    const [conflicts, count, channels] = await Promise.all([
      listConflicts(context.db, organizationId, modes, CONFLICTS_LIMIT),
      countConflicts(context.db, organizationId, modes, LONG_LIST_COUNT_LIMIT + 1),
      channelNames(context, user),
    ]);
    return {
      data: conflicts.map((conflict) => presentConflict(conflict, channels)),
      count: presentCount(cappedCount(count, LONG_LIST_COUNT_LIMIT)),
    };
  },

  async exportCustomers({ context, user, query, reply }) {
    const { db } = context;
    const [channels, filter] = await Promise.all([
      channelNames(context, user),
      customerFilterOf(context, user, { search: query.q ?? '', isTest: modesOf(user, query.test) }),
    ]);
    return await sendCsv({ user, reply }, 'customers.csv', {
      header: CUSTOMER_HEADER,
      read: (start, limit) => listCustomers(db, { ...filter, isDescending: true, start, limit }),
      async cellsOf(rows) {
        const ids = rows.map(({ id }) => id);
        const [spend, links] = await Promise.all([
          spendOfCustomers(db, ids, LISTED_ORDERS_LIMIT),
          linksOfCustomers(db, ids),
        ]);
        const linksById = Map.groupBy(links, ({ customerId }) => customerId);
        return rows.map((row) =>
          customerCells(presentCustomerRow(row, spend.get(row.id), linksById.get(row.id) ?? [], channels)),
        );
      },
    });
  },

  async listErasures({ context, user }) {
    const erasures = await listErasures(context.db, user.organizationId, ERASURES_LIMIT);
    return { data: erasures.map(presentErasure) };
  },

  async getCustomer({ context, user, params }) {
    const customer = await readCustomer(context.db, user.organizationId, params.customer_id);
    const [links, spend, channels] = await Promise.all([
      linksOfCustomers(context.db, [customer.id]),
      spendOfCustomers(context.db, [customer.id]),
      channelNames(context, user),
    ]);
    return presentCustomerPage(customer, spend.get(customer.id), links, channels);
  },

  async changeCustomer({ context, user, actor, params, body }) {
    const { updated_at: updatedAt, email, phone, first_name, last_name, company, address } = body;
    const edit = {
      ...(email === undefined ? {} : { email: textOrNull(email) }),
      ...(phone === undefined ? {} : { phone: textOrNull(phone) }),
      ...(first_name === undefined ? {} : { firstName: textOrNull(first_name) }),
      ...(last_name === undefined ? {} : { lastName: textOrNull(last_name) }),
      ...(company === undefined ? {} : { company: textOrNull(company) }),
      ...(address === undefined ? {} : { address: address === null ? null : addressOf(address) }),
    };
    const basis = {
      updatedAt: new Date(updatedAt),
      country: await countryOf(context, user),
      now: context.channel.now(),
    };
    await changeCustomer(context.db, actor, user.organizationId, params.customer_id, edit, basis);
    notify(context, user, params.customer_id);
    return null;
  },

  async previewCustomerMerge({ context, user, params }) {
    const { customer_id: keptId, merged_id: mergedId } = params;
    const [preview, channels] = await Promise.all([
      withWireFields(MERGE_FIELDS, () => previewMerge(context.db, user.organizationId, keptId, mergedId)),
      channelNames(context, user),
    ]);
    return presentMergePreview(preview, channels);
  },

  async mergeCustomers({ context, user, actor, params }) {
    const { customer_id: keptId, merged_id: mergedId } = params;
    await withWireFields(MERGE_FIELDS, () =>
      mergeCustomers(context.channel, actor, user.organizationId, keptId, mergedId),
    );
    const { feed } = context.dashboard;
    notify(context, user, keptId, mergedId);
    feed.notify(user.organizationId, 'order', null);
    feed.notify(user.organizationId, 'sale', null);
    return null;
  },

  async eraseCustomer({ context, user, actor, params }) {
    const jobId = await eraseCustomer(context.channel, actor, user.organizationId, params.customer_id);
    notify(context, user, params.customer_id);
    context.dashboard.feed.notify(user.organizationId, 'job', [jobId]);
    return null;
  },

  async exportCustomer({ context, user, params, reply }) {
    const pieces = await exportCustomer(context.db, user.organizationId, params.customer_id);
    return await reply
      .type('application/json; charset=utf-8')
      .header('content-disposition', `attachment; filename="${params.customer_id}.json"`)
      .send(Readable.from(pacedPieces(user.organizationId, pieces)));
  },
};

const MERGE_FIELDS = { mergedId: 'merged_id' };

async function channelNames({ db }: DashboardContext, { organizationId }: SignedIn): Promise<Map<string, string>> {
  const channels = await listChannels(db, organizationId);
  return new Map(channels.map(({ id, name }) => [id, name]));
}

function notify({ dashboard }: DashboardContext, { organizationId }: SignedIn, ...ids: string[]): void {
  dashboard.feed.notify(organizationId, 'customer', ids);
  dashboard.feed.notify(organizationId, 'audit', null);
}
