import { DomainError } from '../../contract/domain-error.ts';
import type { JsonObject } from '../../contract/versions.ts';
import type { ChannelContext } from '../context.ts';
import { type ItemSource, render, runningPromotion } from './documents.ts';
import { presentFor } from './plan-projection.ts';
import { isPriceOnRequest, type PriceSteps, priceSteps } from './pricing.ts';
import { type ChannelSettings, pairKey, readChannelSettings, readItems, readPublications } from './sources.ts';

/** What a channel shows, or would show, of an item. */
export type ChannelPreview = {
  integrationId: string;
  /** False also where the item was never on it. */
  isOn: boolean;
  wasOn: boolean;
  /** How the channel's price comes from the dealer's; null for price on request. */
  price: PriceSteps | null;
  /** The same for the promotion that runs. */
  promotionPrice: PriceSteps | null;
  /** What the client reads, or would read if the item were on the channel; `updated_at` is missing. */
  document: JsonObject;
};

/** What an edit would make of an item; what is absent stays. */
export type ItemDraft = Partial<
  Pick<
    ItemSource,
    'stockNumber' | 'title' | 'description' | 'priceAmount' | 'taxTreatment' | 'location' | 'attributes' | 'units'
  >
>;

/**
 * Renders an item on each channel as it is, with a draft laid over it. Nothing is locked or written. An item that is not
 * there yet is rendered from the draft alone.
 */
export async function previewItem(
  context: ChannelContext,
  organizationId: string,
  integrationIds: string[],
  item: { id: string } | { kind: 'listing' | 'part' },
  draft: ItemDraft,
): Promise<ChannelPreview[]> {
  return await context.db.transaction(async (tx) => {
    const { settings, now: databaseNow } = await readChannelSettings(tx, integrationIds, context.publicUrl);
    const now = context.now() ?? databaseNow ?? new Date();
    const id = 'id' in item ? item.id : '';
    const stored = id === '' ? undefined : (await readItems(tx, [id])).get(pairKey(organizationId, id));
    if (id !== '' && stored === undefined) throw new DomainError('not_found', 'There is no such item.');
    const base = stored ?? newSource('kind' in item ? item.kind : 'listing', now);
    const publications = id === '' ? new Map() : await readPublications(tx, integrationIds, [id]);
    const source = { ...base, ...draft };
    // Units are edited as those that can be sold; what is held back stays held.
    if (draft.units !== undefined) source.units = draft.units + base.reservedUnits;
    return settings.map((channel) => {
      const publication = publications.get(pairKey(channel.integrationId, id)) ?? null;
      return {
        ...previewOn(channel, source, publication?.publishedAt ?? now, context, now),
        isOn: publication?.isOn ?? false,
        wasOn: publication !== null,
      };
    });
  });
}

function previewOn(
  channel: ChannelSettings,
  source: ItemSource,
  publishedAt: Date,
  context: ChannelContext,
  now: Date,
) {
  const { priceRule, integrationId, endpoint } = channel;
  const present = presentFor(context.versions, endpoint.apiVersion);
  const rendering = render(source, channel, { isOn: true, publishedAt }, present, now.getTime());
  const running = runningPromotion(source.promotions, now.getTime());
  return {
    integrationId,
    price: isPriceOnRequest(source.priceAmount) ? null : priceSteps(source.priceAmount, priceRule),
    promotionPrice:
      isPriceOnRequest(source.priceAmount) || running === null ? null : priceSteps(running.amount, priceRule),
    document: JSON.parse(rendering?.body ?? '{}') as JsonObject,
  };
}

function newSource(kind: 'listing' | 'part', now: Date): ItemSource {
  return {
    id: kind === 'part' ? 'prt_…' : 'lst_…',
    kind,
    stockNumber: '',
    title: '',
    description: '',
    priceAmount: null,
    units: 1,
    reservedUnits: 0,
    isHidden: false,
    taxTreatment: null,
    attributes: {},
    createdAt: now,
    location: null,
    photos: [],
    promotions: [],
  };
}
