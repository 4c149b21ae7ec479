import type { Static, TObject } from 'typebox';
import { STOCK_SORTS, type stockFilters, type stockOperations } from '../../../../contract/dashboard/stock/stock.ts';
import { listChannels } from '../../../../dealers/integrations/integrations.ts';
import {
  countStock,
  listBrands,
  listStock,
  matchSearch,
  type StockFilter,
  type StockPage,
  type StockRow,
} from '../../../../inventory/lists/stock-list.ts';
import { listLocations } from '../../../../inventory/locations.ts';
import { setPublished } from '../../../../inventory/publications.ts';
import type { Handlers, SignedIn } from '../../call.ts';
import { pageRequestOf, presentCount, readPage, sortOf } from '../../lists/list-page.ts';
import { photoUrl } from '../../presenters/photo-urls.ts';

type FilterQuery = Static<TObject<typeof stockFilters>> & { q?: string };

export const stockHandlers: Handlers<typeof stockOperations> = {
  async listStock({ context, user, query }) {
    const sort = sortOf(query.sort, STOCK_SORTS);
    const request = pageRequestOf(query, sort);
    const asked = filterOf(user, query);
    const filter = { ...asked, matched: await matchSearch(context.db, asked) };
    const wanted: StockPage = { ...filter, sort, from: request.from, limit: request.limit + 1 };
    const { rows, page } = await readPage(request, sort, {
      read: () => listStock(context.db, wanted, context.channel.now()),
      count: () => countStock(context.db, filter),
      positionOf: (row) => ({ value: row.sortValue, id: row.id }),
    });
    return { data: rows.map((row) => presentRow(row, user, context.publicUrl)), ...page };
  },

  async getStockChoices({ context, user, query }) {
    const base = { organizationId: user.organizationId, kind: query.kind };
    const tabs: Record<string, Partial<StockFilter>> = {
      all: {},
      in_stock: { status: 'in_stock' },
      reserved: { status: 'reserved' },
      sold: { status: 'sold' },
      no_channel: { isOnNoChannel: true },
      needs_work: { needsWork: true },
    };
    const brands = await listBrands(context.db, user.organizationId, query.kind);
    const locations = await listLocations(context.db, user.organizationId);
    const channels = await listChannels(context.db, user.organizationId);
    const counts: [string, ReturnType<typeof presentCount>][] = [];
    for (const [tab, filter] of Object.entries(tabs)) {
      counts.push([tab, presentCount(await countStock(context.db, { ...base, ...filter }))]);
    }
    return {
      currency: user.currency,
      brands,
      locations: locations.map(({ id, name, businessUnit }) => ({ id, name, business_unit: businessUnit })),
      channels: channels.map(({ id, name, currency, isTestMode }) => ({
        integration_id: id,
        name,
        currency,
        is_test_mode: isTestMode,
      })),
      tabs: Object.fromEntries(counts),
    };
  },

  async setChannel({ context, user, actor, params, body }) {
    const { item_id: itemId, integration_id: integrationId } = params;
    const { organizationId } = user;
    const auditId = await setPublished(context.channel, actor, organizationId, integrationId, [itemId], body.is_on);
    context.dashboard.feed.notify(organizationId, 'item', [itemId]);
    return { audit_id: auditId };
  },
};

/** The same words for a list and for "all that match". */
export function filterOf({ organizationId }: SignedIn, query: FilterQuery): StockFilter {
  const isOnNoChannel = query.integration_id === 'none';
  return {
    organizationId,
    kind: query.kind,
    ...(query.q === undefined ? {} : { search: query.q }),
    ...(query.status === undefined ? {} : { status: query.status }),
    ...(query.hidden === undefined ? {} : { isHidden: query.hidden === 'yes' }),
    ...(isOnNoChannel ? { isOnNoChannel } : {}),
    ...(query.integration_id === undefined || isOnNoChannel ? {} : { integrationId: query.integration_id }),
    ...(query.needs_work === 'yes' ? { needsWork: true } : {}),
    ...(query.brand === undefined ? {} : { brand: query.brand }),
    ...(query.location_id === undefined ? {} : { locationId: query.location_id }),
    ...(query.price_from === undefined ? {} : { priceFrom: query.price_from }),
    ...(query.price_to === undefined ? {} : { priceTo: query.price_to }),
  };
}

function presentRow(row: StockRow, { currency, seesCost }: SignedIn, publicUrl: string) {
  return {
    id: row.id,
    kind: row.kind,
    stock_number: row.stockNumber,
    title: row.title,
    brand: row.brand,
    reference: row.reference,
    status: row.status,
    is_hidden: row.isHidden,
    price: row.priceAmount === null ? null : { amount: row.priceAmount, currency },
    promotion_amount: row.promotionAmount,
    cost_amount: seesCost ? row.costAmount : null,
    units: row.units,
    reserved_units: row.reservedUnits,
    location: row.locationId === null ? null : { id: row.locationId, name: row.locationName ?? '' },
    missing: row.missing,
    photo_url: photoUrl(publicUrl, row.photoId, 'square'),
    thumbnail_url: photoUrl(publicUrl, row.photoId, 'small'),
    channels: row.channels.map(({ integrationId, isOn, status, price }) => ({
      integration_id: integrationId,
      is_on: isOn,
      status,
      price: price === null ? null : { amount: price.amount, currency: price.currency },
    })),
    created_at: row.createdAt.toISOString(),
  };
}
