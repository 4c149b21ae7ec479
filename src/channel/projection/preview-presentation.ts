import { eventLoopSlices, type Steps } from '../../concurrency/time-slices.ts';
import type { ChannelContext } from '../context.ts';
import { type ChannelSource, type ImageFormat, type ItemSource, render } from './documents.ts';
import { channelPrice, type PriceRule, type Rounding } from './pricing.ts';
import { pairKey, readChannelSettings, readItems, readPublishedAmounts, readRate, readSample } from './sources.ts';

export type PresentationChange = {
  currency: string;
  markupBasisPoints: number;
  rounding: Rounding;
  imageFormat: ImageFormat;
};

/** What a client reads of an item: its price, or null on request, and the address of its first photo. */
export type ShownItem = { price: { amount: number; currency: string } | null; photoUrl: string | null };

export type PreviewedItem = {
  id: string;
  kind: 'listing' | 'part';
  title: string;
  stockNumber: string;
  photoId: string | null;
  before: ShownItem;
  after: ShownItem;
};

export type PresentationPreview = {
  items: PreviewedItem[];
  /** How many items on the channel will read differently; each of them is an event. */
  touched: number;
  onChannel: number;
  /** There is no exchange rate to the wanted currency: the change would be refused. */
  isRateMissing: boolean;
};

const SAMPLE_SIZE = 5;

/** What a change of prices and photos would do, on the items of the channel that were published last. Null if it has no dealer. */
export async function previewPresentation(
  context: ChannelContext,
  integrationId: string,
  change: PresentationChange,
): Promise<PresentationPreview | null> {
  const found = await context.db.transaction(async (tx) => {
    const { settings, now } = await readChannelSettings(tx, [integrationId], context.publicUrl);
    const [channel] = settings;
    if (channel === undefined) return null;
    const { from } = channel.priceRule;
    const rate = await readRate(tx, from, change.currency);
    const { currency: to, markupBasisPoints, rounding, imageFormat } = change;
    const wanted: ChannelSource = {
      ...channel,
      imageFormat,
      priceRule: { from, to, rate, markupBasisPoints, rounding },
    };
    const nowMs = (context.now() ?? now ?? new Date()).getTime();
    const sample = await readSample(tx, integrationId, SAMPLE_SIZE);
    const found = await readItems(tx, sample);
    const items = sample.flatMap((id) => found.get(pairKey(channel.organizationId, id)) ?? []);
    const amounts = await readPublishedAmounts(tx, integrationId);
    const previewed = items.map((item) => previewItem(item, channel, wanted, nowMs));
    return { channel, wanted, amounts, items: previewed, isRateMissing: rate === null };
  });
  if (found === null) return null;
  const { channel, wanted, amounts, items, isRateMissing } = found;
  const key = { group: channel.organizationId, key: integrationId };
  return { items, ...(await eventLoopSlices.run(key, countSteps(amounts, channel, wanted))), isRateMissing };
}

function previewItem(item: ItemSource, channel: ChannelSource, wanted: ChannelSource, nowMs: number): PreviewedItem {
  return {
    id: item.id,
    kind: item.kind,
    title: item.title,
    stockNumber: item.stockNumber,
    photoId: item.photos[0]?.id ?? null,
    before: shown(item, channel, nowMs),
    after: shown(item, wanted, nowMs),
  };
}

/** Renders the item with the code that renders what clients read. */
function shown(item: ItemSource, channel: ChannelSource, nowMs: number): ShownItem {
  const publication = { isOn: true, publishedAt: item.createdAt };
  const body = render(item, channel, publication, (document) => document, nowMs)?.body;
  if (body === undefined) return { price: null, photoUrl: null };
  const { price, photos } = JSON.parse(body) as {
    price: { amount: number; currency: string } | null;
    photos: { url: string }[];
  };
  return {
    price: price === null ? null : { amount: price.amount, currency: price.currency },
    photoUrl: photos[0]?.url ?? null,
  };
}

/**
 * Items of one price are touched together. A promotion's price is touched when the regular one is, but for rare roundings. The
 * event loop does nothing else between two steps: 100,000 different prices took it 0.2 s.
 */
export function* countSteps(
  amounts: { amount: number | null; hasPhotos: boolean; count: number }[],
  before: Pick<ChannelSource, 'imageFormat' | 'priceRule'>,
  after: Pick<ChannelSource, 'imageFormat' | 'priceRule'>,
): Steps<Pick<PresentationPreview, 'touched' | 'onChannel'>> {
  const isOtherFormat = before.imageFormat !== after.imageFormat;
  let [touched, onChannel] = [0, 0];
  for (const { amount, hasPhotos, count } of amounts) {
    onChannel += count;
    const isTouched = (isOtherFormat && hasPhotos) || isOtherPrice(amount, before.priceRule, after.priceRule);
    if (isTouched) touched += count;
    yield;
  }
  return { touched, onChannel };
}

function isOtherPrice(amount: number | null, before: PriceRule, after: PriceRule): boolean {
  if (amount === null) return false;
  return before.to !== after.to || channelPrice(amount, before) !== channelPrice(amount, after);
}
