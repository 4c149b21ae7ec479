import { type ChannelPreview, type ItemDraft, previewItem } from '../../../channel/projection/preview-item.ts';
import type { PriceSteps } from '../../../channel/projection/pricing.ts';
import type { ItemChannel, ItemPage } from '../../../contract/dashboard/stock/items.ts';
import { listChannels } from '../../../dealers/integrations/integrations.ts';
import { organizationDefaults } from '../../../dealers/organization-settings.ts';
import { type ItemDetails, readItem } from '../../../inventory/items/read-item.ts';
import { listBrands } from '../../../inventory/lists/stock-list.ts';
import { listLocations } from '../../../inventory/locations.ts';
import { unitsReservedByClients } from '../../../inventory/units/item-reservations.ts';
import { type HoldingOrder, ordersHolding, salesOf } from '../../../sales/item-sales.ts';
import { type ListedEvent, lastEventsOf } from '../../../webhooks/dealer/list-events.ts';
import { readEndpointStatuses } from '../../../webhooks/endpoints/endpoint-status.ts';
import type { DashboardContext, SignedIn } from '../call.ts';
import { presentOutcome } from './event-objects.ts';

/** Everything that the page of an item shows. */
export async function readItemPage(context: DashboardContext, user: SignedIn, itemId: string): Promise<ItemPage> {
  const { db } = context;
  const { organizationId } = user;
  const item = await readItem(db, organizationId, itemId);
  const [channels, orders, sales, siteReserved, choices] = await Promise.all([
    presentChannels(context, user, { id: itemId }, {}),
    ordersHolding(db, organizationId, itemId),
    salesOf(db, organizationId, itemId),
    unitsReservedByClients(db, itemId),
    readChoices(context, user, item.kind),
  ]);
  const heldByOrders = orders.reduce((sum, { units }) => sum + units, 0);
  return {
    id: item.id,
    kind: item.kind,
    revision: item.revision,
    ...presentFields(item, choices.sees_cost),
    units: item.units,
    reserved_units: item.reservedUnits,
    free_units: item.units - item.reservedUnits,
    releasable_units: Math.max(0, item.reservedUnits - heldByOrders - siteReserved),
    site_reserved_units: siteReserved,
    status: item.status,
    is_hidden: item.isHidden,
    missing: item.missing,
    created_at: item.createdAt.toISOString(),
    edited_at: item.editedAt?.toISOString() ?? null,
    photos: item.photos.map(({ id, width, height }) => ({
      id,
      url: `${context.publicUrl}/photos/${id}.webp`,
      thumbnail_url: `${context.publicUrl}/photos/${id}-square.webp`,
      width,
      height,
    })),
    promotions: presentPromotions(item, (context.channel.now() ?? new Date()).getTime()),
    channels,
    orders: orders.map(presentOrder),
    sales: sales.map(({ id, units, status, orderId, createdAt }) => ({
      id,
      units,
      is_voided: status === 'voided',
      order_id: orderId,
      created_at: createdAt.toISOString(),
    })),
    choices,
  };
}

export async function readChoices(
  { db }: DashboardContext,
  user: SignedIn,
  kind: 'listing' | 'part',
): Promise<ItemPage['choices']> {
  const { organizationId, seesCost } = user;
  const [defaults, locations, brands] = await Promise.all([
    organizationDefaults(db, organizationId),
    listLocations(db, organizationId),
    listBrands(db, organizationId, kind),
  ]);
  return {
    currency: defaults.currency,
    default_tax_treatment: defaults.defaultTaxTreatment,
    locations: locations.map(({ id, name, businessUnit }) => ({ id, name, business_unit: businessUnit })),
    brands,
    sees_cost: seesCost,
  };
}

/** The item on each of the dealer's channels, with a draft laid over it. */
export async function presentChannels(
  context: DashboardContext,
  { organizationId }: SignedIn,
  item: Parameters<typeof previewItem>[3],
  draft: ItemDraft,
): Promise<ItemChannel[]> {
  const channels = await listChannels(context.db, organizationId);
  const ids = channels.map(({ id }) => id);
  const [previews, events, endpoints] = await Promise.all([
    previewItem(context.channel, organizationId, ids, item, draft),
    'id' in item ? lastEventsOf(context.db, ids, item.id) : [],
    readEndpointStatuses(context.db, ids),
  ]);
  const byId = new Map(previews.map((preview) => [preview.integrationId, preview]));
  const eventOf = new Map(events.map((event) => [event.integrationId, event]));
  const endpointOf = new Map(endpoints.map((endpoint) => [endpoint.integrationId, endpoint]));
  return channels.flatMap(({ id, name, isTestMode }) => {
    const preview = byId.get(id);
    if (preview === undefined) return [];
    return {
      ...presentChannelPreview(preview),
      name,
      is_test_mode: isTestMode,
      last_event: presentLastEvent(eventOf.get(id)),
      stop_reasons: endpointOf.get(id)?.stopReasons ?? [],
    };
  });
}

function presentChannelPreview({ integrationId, isOn, wasOn, price, promotionPrice, document }: ChannelPreview) {
  return {
    integration_id: integrationId,
    is_on: isOn,
    was_on: wasOn,
    price: price === null ? null : presentSteps(price),
    promotion_price: promotionPrice === null ? null : presentSteps(promotionPrice),
    document,
  };
}

function presentLastEvent(event: ListedEvent | undefined): ItemChannel['last_event'] {
  if (event === undefined) return null;
  return { id: event.id, type: event.type, created_at: event.createdAt.toISOString(), ...presentOutcome(event) };
}

function presentSteps({ from, rate, converted, markupBasisPoints, markedUp, rounding, price, currency }: PriceSteps) {
  return {
    from,
    rate,
    converted,
    markup_basis_points: markupBasisPoints,
    marked_up: markedUp,
    rounding,
    price,
    currency,
  };
}

function presentFields(item: ItemDetails, isCostSeen: boolean) {
  return {
    stock_number: item.stockNumber,
    title: item.title,
    description: item.description,
    price_amount: item.priceAmount,
    tax_treatment: item.taxTreatment as ItemPage['tax_treatment'],
    location_id: item.locationId,
    attributes: item.attributes,
    serial_number: item.serialNumber,
    cost_amount: isCostSeen ? item.costAmount : null,
    private_notes: item.privateNotes,
  };
}

function presentPromotions({ promotions }: ItemDetails, nowMs: number): ItemPage['promotions'] {
  return promotions.map(({ id, priceAmount, startsAt, endsAt }) => ({
    id,
    price_amount: priceAmount,
    starts_at: new Date(startsAt).toISOString(),
    ends_at: endsAt === null ? null : new Date(endsAt).toISOString(),
    state:
      new Date(startsAt).getTime() > nowMs
        ? 'planned'
        : endsAt !== null && new Date(endsAt).getTime() <= nowMs
          ? 'ended'
          : 'running',
  }));
}

function presentOrder({ orderId, integrationId, channelOrderId, units, createdAt }: HoldingOrder) {
  return {
    order_id: orderId,
    integration_id: integrationId,
    channel_order_id: channelOrderId,
    units,
    created_at: createdAt.toISOString(),
  };
}
