import assert from 'node:assert/strict';
import { sql } from '../../src/db/sql.ts';
import type { NewItem } from '../../src/inventory/items/item-input.ts';
import { createItem } from '../../src/inventory/items/item-operations.ts';
import { setPublished } from '../../src/inventory/publications.ts';
import { TESTER } from './actor.ts';
import type { Dealer, World } from './world.ts';

type NewListing = Extract<NewItem, { kind: 'listing' }>;
type NewPart = Extract<NewItem, { kind: 'part' }>;

let made = 0;

/** A watch with every attribute filled; a test names only what it is about. */
export function watch(changes: Partial<NewListing> = {}): NewListing {
  made += 1;
  return {
    kind: 'listing',
    stockNumber: `W-${made}`,
    title: `Rolex Submariner Date ${made}`,
    description: 'One.||Two.',
    priceAmount: 1_299_000,
    units: 1,
    taxTreatment: null,
    locationId: null,
    attributes: {
      brand: 'Rolex',
      model: 'Submariner Date',
      reference_number: '126610LN',
      year: 2023,
      condition: 'very_good',
      gender: 'mens',
      has_box: true,
      has_papers: true,
      movement: 'automatic',
      caliber: '3235',
      complications: ['date'],
      power_reserve_hours: 70,
      water_resistance_m: 300,
      case_material: 'steel',
      case_diameter_mm: 41,
      case_thickness_mm: 12.5,
      lug_width_mm: 21,
      bezel_material: 'ceramic',
      crystal_type: 'sapphire',
      dial_color: 'black',
      dial_numerals: 'none',
      bracelet_material: 'steel',
      bracelet_color: 'steel',
      bracelet_links: 12,
      clasp_type: 'fold_clasp',
      clasp_material: 'steel',
      additional_details: ['screw_down_crown'],
      handling_time: '1_3_days',
    },
    ...changes,
  };
}

export function part(changes: Partial<NewPart> = {}): NewPart {
  made += 1;
  return {
    kind: 'part',
    stockNumber: `P-${made}`,
    title: `Triplock crown ${made}`,
    description: 'Genuine.',
    priceAmount: 18_500,
    units: 5,
    taxTreatment: 'vat_included',
    locationId: null,
    attributes: {
      part_number: '24-703-0',
      category: 'crown',
      brand: 'Rolex',
      condition: 'unworn',
      compatibility: [{ brand: 'Rolex', model: 'Submariner', reference_number: '16610', caliber: '3135' }],
    },
    ...changes,
  };
}

/** The units of an item that the dealer has, and how many of them are held. */
export async function stockOf(world: Pick<World, 'db'>, itemId: string): Promise<{ units: number; held: number }> {
  const [row] = await world.db.query<{ units: number; held: number }>(sql`
    select units, reserved_units as held from items where id = ${itemId}`);
  assert.ok(row);
  return row;
}

/** Takes an item into stock and puts it on the dealer's channel. */
export async function publishNew(
  world: Pick<World, 'channel'>,
  dealer: Pick<Dealer, 'organizationId' | 'integrationId'>,
  item: NewItem,
): Promise<string> {
  const id = await createItem(world.channel, TESTER, dealer.organizationId, item);
  await setPublished(world.channel, TESTER, dealer.organizationId, dealer.integrationId, [id], true);
  return id;
}
