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
  /** What the client reads, or would read if the item were on the channel; `updated_at` is missing. Null past DOCUMENTS_BYTES. */
  document: JsonObject | null;
};

/**
 * Of all documents together, the last of which may be longer. One may have a megabyte and a dealer a hundred channels: all of
 * them took the event loop 1.2 s.
 */
const DOCUMENTS_BYTES = 1_048_576;

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
  item: { id: string; kind?: ItemSource['kind'] } | { kind: ItemSource['kind'] },
  draft: ItemDraft,
): Promise<ChannelPreview[]> {
  return await context.db.transaction(async (tx) => {
    const { settings, now: databaseNow } = await readChannelSettings(tx, integrationIds, context.publicUrl);
    const now = context.now() ?? databaseNow ?? new Date();
    const id = 'id' in item ? item.id : '';
    const stored = id === '' ? undefined : (await readItems(tx, [id])).get(pairKey(organizationId, id));
    const { kind = stored?.kind ?? 'listing' } = item;
    // The draft of a part can't be laid over a watch, which has other attributes.
    if (id !== '' && stored?.kind !== kind) throw new DomainError('not_found', 'There is no such item.');
    const base = stored ?? newSource(kind, now);
    const publications = id === '' ? new Map() : await readPublications(tx, integrationIds, [id]);
    const source = { ...base, ...draft };
    // Units are edited as those that can be sold; what is held back stays held.
    if (draft.units !== undefined) source.units = draft.units + base.reservedUnits;
    let bytes = 0;
    return settings.map((channel) => {
      const publication = publications.get(pairKey(channel.integrationId, id)) ?? null;
      const publishedAt = publication?.publishedAt ?? now;
      const body = bytes < DOCUMENTS_BYTES ? renderedOn(channel, source, publishedAt, context, now) : null;
      bytes += Buffer.byteLength(body ?? '');
      return {
        integrationId: channel.integrationId,
        ...pricesOn(channel, source, now),
        document: body === null ? null : (JSON.parse(body) as JsonObject),
        isOn: publication?.isOn ?? false,
        wasOn: publication !== null,
      };
    });
  });
}

function pricesOn({ priceRule }: ChannelSettings, { priceAmount, promotions }: ItemSource, now: Date) {
  if (isPriceOnRequest(priceAmount)) return { price: null, promotionPrice: null };
  const running = runningPromotion(promotions, now.getTime());
  return {
    price: priceSteps(priceAmount, priceRule),
    promotionPrice: running === null ? null : priceSteps(running.amount, priceRule),
  };
}

function renderedOn(
  channel: ChannelSettings,
  source: ItemSource,
  publishedAt: Date,
  context: ChannelContext,
  now: Date,
): string {
  const present = presentFor(context.versions, channel.endpoint.apiVersion);
  return render(source, channel, { isOn: true, publishedAt }, present, now.getTime())?.body ?? '{}';
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
