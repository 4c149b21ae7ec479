import { type Enumeration, labelOf } from '../../contract/enumerations.ts';
import type { Address, Photo } from '../../contract/resources/common.ts';
import type { WatchAttributes } from '../../contract/resources/listing.ts';
import type { PartAttributes } from '../../contract/resources/part.ts';
import type { JsonObject } from '../../contract/versions.ts';
import { type PriceRule, pricesOf } from './pricing.ts';
import type { Projected } from './transitions.ts';

/** Raise it when the same rows render to other bytes; a job then renders all documents anew, without any event. */
export const RENDERER_REVISION = 1;

export type PromotionSource = { amount: number; startsAtMs: number; endsAtMs: number | null };
export type PhotoSource = { id: string; position: number; width: number; height: number; format: string };
export type ImageFormat = 'original' | 'jpeg' | 'webp' | 'avif';

export type ItemSource = {
  id: string;
  kind: 'listing' | 'part';
  stockNumber: string;
  title: string;
  description: string;
  priceAmount: number | null;
  units: number;
  reservedUnits: number;
  isHidden: boolean;
  taxTreatment: string | null;
  attributes: JsonObject;
  createdAt: Date;
  location: { business_unit: string; name: string } | null;
  photos: PhotoSource[];
  /** All promotions, including those that have ended, earliest first. No two run at the same time. */
  promotions: PromotionSource[];
};

/** What one integration's settings and its organization contribute to every document. */
export type ChannelSource = {
  priceRule: PriceRule;
  imageFormat: ImageFormat;
  publicUrl: string;
  defaultTaxTreatment: string;
  dealer: { name: string; address: Address };
};

export type Publication = { isOn: boolean; publishedAt: Date };

export type Rendering = Projected & { validUntilMs: number | null };

/** Renders what a client can read of an item now; null if it can read nothing. */
export function render(
  item: ItemSource,
  channel: ChannelSource,
  publication: Publication | null,
  present: (document: JsonObject) => JsonObject,
  nowMs: number,
): Rendering | null {
  if (publication === null || (item.kind === 'part' && !publication.isOn)) return null;
  const status = item.kind === 'part' ? partStatus(item) : listingStatus(item, publication);
  const running = runningPromotion(item.promotions, nowMs);
  const pricing = pricesOf(item.priceAmount, running, channel.priceRule);
  const taxTreatment = item.taxTreatment ?? channel.defaultTaxTreatment;
  const paragraphs = paragraphsOf(item.description);
  const common = {
    quantity: item.units - item.reservedUnits,
    stock_number: item.stockNumber,
    price: pricing.price,
    promotion: pricing.promotion,
    description: paragraphs.join('\n\n'),
    description_paragraphs: paragraphs,
    photos: item.photos.map((photo) => photoOf(photo, channel)),
  };
  const tail = {
    location: item.location,
    dealer: channel.dealer,
    published_at: publication.publishedAt.toISOString(),
    created_at: item.createdAt.toISOString(),
  };
  const specific =
    item.kind === 'part'
      ? partFields(item.attributes as PartAttributes, status, taxTreatment)
      : watchFields(item.attributes as WatchAttributes, status, taxTreatment);
  const document = { id: item.id, object: item.kind, status, title: item.title, ...common, ...specific, ...tail };
  return {
    kind: item.kind,
    status,
    quantity: common.quantity,
    body: JSON.stringify(present(document)),
    isUnpriceable: pricing.isUnpriceable,
    validUntilMs: nextBoundary(item.promotions, nowMs),
  };
}

/** The stamp is the last field, so a document is its body and a tail of fixed length. */
export function withStamp(body: string, stamp: Date): string {
  return `${body.slice(0, -1)}${stampTail(stamp)}`;
}

export function stampTail(stamp: Date): string {
  return `,"updated_at":"${stamp.toISOString()}"}`;
}

export function bodyOf(document: string): string {
  return `${document.slice(0, -STAMP_TAIL_LENGTH)}}`;
}

const STAMP_TAIL_LENGTH = stampTail(new Date(0)).length;

/**
 * Dealers type || between paragraphs; blanks around it are not text, line breaks they typed are. The bound keeps a
 * long run of blanks from being tried at each of its positions to its end.
 */
const PARAGRAPH_BREAK = /[ \t]{0,100}\|\|[ \t]{0,100}/;

function paragraphsOf(description: string): string[] {
  // Most have one, and the pattern would be tried at each character.
  const paragraphs = description.includes('||') ? description.split(PARAGRAPH_BREAK) : [description];
  return paragraphs.filter((paragraph) => paragraph !== '');
}

function listingStatus(item: ItemSource, publication: Publication): string {
  if (!publication.isOn || item.isHidden) return 'unpublished';
  if (item.units === 0) return 'sold';
  return item.reservedUnits >= item.units ? 'reserved' : 'active';
}

function partStatus(item: ItemSource): string {
  if (item.isHidden) return 'unpublished';
  return item.reservedUnits >= item.units ? 'sold_out' : 'active';
}

export function runningPromotion(promotions: PromotionSource[], nowMs: number): PromotionSource | null {
  return (
    promotions.find(({ startsAtMs, endsAtMs }) => startsAtMs <= nowMs && (endsAtMs === null || nowMs < endsAtMs)) ??
    null
  );
}

/** The next moment at which a promotion starts or ends. */
export function nextBoundary(promotions: PromotionSource[], nowMs: number): number | null {
  const moments = promotions.flatMap(({ startsAtMs, endsAtMs }) =>
    endsAtMs === null ? [startsAtMs] : [startsAtMs, endsAtMs],
  );
  const coming = moments.filter((moment) => moment > nowMs);
  return coming.length === 0 ? null : Math.min(...coming);
}

function photoOf(photo: PhotoSource, channel: ChannelSource): Photo {
  const format = channel.imageFormat === 'original' ? photo.format : channel.imageFormat;
  const extension = format === 'jpeg' ? 'jpg' : format;
  return {
    id: photo.id,
    position: photo.position,
    url: `${channel.publicUrl}/photos/${photo.id}.${extension}`,
    thumbnail_url: `${channel.publicUrl}/photos/${photo.id}-square.${extension}`,
    width: photo.width,
    height: photo.height,
  };
}

function watchFields(watch: WatchAttributes, status: string, taxTreatment: string): JsonObject {
  return {
    watch: {
      brand: watch.brand,
      model: watch.model,
      reference_number: watch.reference_number,
      year: watch.year,
      condition: watch.condition,
      gender: watch.gender,
      has_box: watch.has_box,
      has_papers: watch.has_papers,
      movement: watch.movement,
      caliber: watch.caliber,
      complications: watch.complications,
      power_reserve_hours: watch.power_reserve_hours,
      water_resistance_m: watch.water_resistance_m,
      case_material: watch.case_material,
      case_diameter_mm: watch.case_diameter_mm,
      case_thickness_mm: watch.case_thickness_mm,
      lug_width_mm: watch.lug_width_mm,
      bezel_material: watch.bezel_material,
      crystal_type: watch.crystal_type,
      dial_color: watch.dial_color,
      dial_numerals: watch.dial_numerals,
      bracelet_material: watch.bracelet_material,
      bracelet_color: watch.bracelet_color,
      bracelet_links: watch.bracelet_links,
      clasp_type: watch.clasp_type,
      clasp_material: watch.clasp_material,
      additional_details: watch.additional_details,
      handling_time: watch.handling_time,
      tax_treatment: taxTreatment,
    },
    labels: {
      status: labelOf('listing_status', status),
      condition: labelOf('condition', watch.condition),
      gender: labelOf('gender', watch.gender),
      movement: labelOf('movement', watch.movement),
      complications: labelsOf('complications', watch.complications),
      case_material: labelOf('case_material', watch.case_material),
      bezel_material: labelOf('bezel_material', watch.bezel_material),
      crystal_type: labelOf('crystal_type', watch.crystal_type),
      dial_color: labelOf('dial_color', watch.dial_color),
      dial_numerals: labelOf('dial_numerals', watch.dial_numerals),
      bracelet_material: labelOf('bracelet_material', watch.bracelet_material),
      bracelet_color: labelOf('bracelet_color', watch.bracelet_color),
      clasp_type: labelOf('clasp_type', watch.clasp_type),
      clasp_material: labelOf('clasp_material', watch.clasp_material),
      additional_details: labelsOf('additional_details', watch.additional_details),
      handling_time: labelOf('handling_time', watch.handling_time),
      tax_treatment: labelOf('tax_treatment', taxTreatment),
    },
  };
}

function partFields(part: PartAttributes, status: string, taxTreatment: string): JsonObject {
  return {
    part_number: part.part_number,
    category: part.category,
    brand: part.brand,
    condition: part.condition,
    compatibility: part.compatibility.map(({ brand, model, reference_number, caliber }) => ({
      brand,
      model,
      reference_number,
      caliber,
    })),
    tax_treatment: taxTreatment,
    labels: {
      status: labelOf('part_status', status),
      category: labelOf('part_category', part.category),
      condition: labelOf('condition', part.condition),
      tax_treatment: labelOf('tax_treatment', taxTreatment),
    },
  };
}

function labelsOf(name: Enumeration, values: readonly string[]): string[] {
  return values.map((value) => labelOf(name, value));
}
