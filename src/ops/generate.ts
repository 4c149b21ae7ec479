import type { ChannelContext } from '../channel/context.ts';
import { NEVER_SUPPRESSED, NO_CHANGE, refreshItems } from '../channel/refresh.ts';
import { valuesOf } from '../contract/catalogue.ts';
import { newId } from '../contract/ids.ts';
import type { WatchAttributes } from '../contract/resources/listing.ts';
import { sql } from '../db/sql.ts';

/** Where generated stock goes. */
export type GenerateRequest = { organizationId: string; integrationId: string; count: number };

/** Rows of one transaction: large, since nobody else works on a channel that is being filled. */
const BATCH_LIMIT = 500;

/**
 * Fills a channel with many listings for measuring. The stock is inserted in bulk; the documents come from the ordinary
 * projection, so they are what the ordinary operations would have made.
 */
export async function generateListings(
  context: ChannelContext,
  request: GenerateRequest,
  onProgress: (done: number) => void = () => {},
): Promise<void> {
  const run = newId('job').slice(-8);
  for (let start = 0; start < request.count; start += BATCH_LIMIT) {
    const size = Math.min(BATCH_LIMIT, request.count - start);
    const items = Array.from({ length: size }, (_, index) => generatedItem(run, start + index));
    await insertBatch(context, request, items);
    onProgress(start + size);
  }
}

type GeneratedItem = {
  id: string;
  stockNumber: string;
  title: string;
  description: string;
  priceAmount: number;
  attributes: WatchAttributes;
};

async function insertBatch(context: ChannelContext, request: GenerateRequest, items: GeneratedItem[]): Promise<void> {
  const ids = items.map((item) => item.id);
  await context.db.transaction(async (tx) => {
    await tx.query(sql`
      insert into items (organization_id, kind, units, created_at, id, stock_number, title, description, price_amount, attributes)
      select ${request.organizationId}, 'listing', 1, now(), id, stock_number, title, description, price_amount, attributes::jsonb
      from unnest(${ids}::text[], ${items.map((item) => item.stockNumber)}::text[], ${items.map((item) => item.title)}::text[],
        ${items.map((item) => item.description)}::text[], ${items.map((item) => item.priceAmount)}::bigint[],
        ${items.map((item) => JSON.stringify(item.attributes))}::text[])
        as rows (id, stock_number, title, description, price_amount, attributes)`);
    await tx.query(sql`
      insert into publications (integration_id, item_id, is_on, published_at)
      select ${request.integrationId}, id, true, now() from unnest(${ids}::text[]) as id`);
    await refreshItems(tx, context, {
      itemIds: ids,
      integrationIds: [request.integrationId],
      change: NO_CHANGE,
      isSuppressed: NEVER_SUPPRESSED,
    });
  });
}

const MODELS = [
  ['Rolex', 'Submariner Date', '126610LN', '3235'],
  ['Omega', 'Speedmaster Professional', '310.30.42.50.01.001', '3861'],
  ['Patek Philippe', 'Nautilus', '5711/1A-010', '26-330 S C'],
  ['Audemars Piguet', 'Royal Oak', '15500ST.OO.1220ST.01', '4302'],
  ['Cartier', 'Tank Louis', 'WGTA0011', '1917 MC'],
  ['IWC', 'Mark XX', 'IW328201', '32111'],
  ['Grand Seiko', 'Snowflake', 'SBGA211', '9R65'],
  ['A. Lange & Söhne', 'Lange 1', '191.039', 'L121.1'],
] as const;

const PARAGRAPHS = [
  'The case keeps its factory lines, with light signs of wear on the lugs and the clasp that honest use leaves behind.',
  'Our workshop has opened, cleaned and regulated the movement; it runs within two seconds a day in six positions.',
  'It comes with the box, the warranty card and the instructions as they were handed over by the first dealer.',
  'The bracelet is complete and tight. Further links, a second strap and a travel pouch can be had on request.',
  'We ship insured and by courier, and take it back within fourteen days if it should not please on the wrist.',
];

function generatedItem(run: string, number: number): GeneratedItem {
  const pick = <Item>(choices: readonly Item[], salt: number): Item => choices[(number * 7 + salt) % choices.length] as Item;
  const [brand, model, reference, caliber] = pick(MODELS, 0);
  return {
    id: newId('listing'),
    stockNumber: `G-${run}-${number}`,
    title: `${brand} ${model} ${reference}`,
    description: [0, 1, 2, 3, 4].map((offset) => pick(PARAGRAPHS, offset * 3 + number)).join('||'),
    priceAmount: 250_000 + ((number * 7_919) % 4_000_000),
    attributes: {
      brand,
      model,
      reference_number: reference,
      year: 1990 + (number % 36),
      condition: pick(valuesOf('condition'), 1),
      gender: pick(valuesOf('gender'), 2),
      has_box: number % 3 !== 0,
      has_papers: number % 4 !== 0,
      movement: pick(valuesOf('movement'), 3),
      caliber,
      complications: [pick(valuesOf('complications'), 4)],
      power_reserve_hours: 38 + (number % 40),
      water_resistance_m: 30 * (1 + (number % 10)),
      case_material: pick(valuesOf('case_material'), 5),
      case_diameter_mm: 36 + (number % 9),
      case_thickness_mm: 9.5 + (number % 5),
      lug_width_mm: 18 + (number % 5),
      bezel_material: pick(valuesOf('bezel_material'), 6),
      crystal_type: pick(valuesOf('crystal_type'), 7),
      dial_color: pick(valuesOf('dial_color'), 8),
      dial_numerals: pick(valuesOf('dial_numerals'), 9),
      bracelet_material: pick(valuesOf('bracelet_material'), 10),
      bracelet_color: pick(valuesOf('bracelet_color'), 11),
      bracelet_links: number % 20,
      clasp_type: pick(valuesOf('clasp_type'), 12),
      clasp_material: pick(valuesOf('clasp_material'), 13),
      additional_details: [pick(valuesOf('additional_details'), 14), pick(valuesOf('additional_details'), 15)],
      handling_time: pick(valuesOf('handling_time'), 16),
    },
  };
}
