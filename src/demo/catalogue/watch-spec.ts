import { labelOf, type ValueOf } from '../../contract/enumerations.ts';
import type { WatchAttributes } from '../../contract/resources/listing.ts';
import type { Look } from '../drawing/look.ts';

/** A watch of the demo in short form: what is peculiar to it. `watchOf` fills in the rest. */
export type WatchSpec = {
  name: readonly [brand: string, model: string, reference: string];
  year: number;
  /** In whole francs. */
  price: number;
  condition: ValueOf<'condition'>;
  /** More than one of the same kind. */
  units?: number;
  size: readonly [diameterMm: number, thicknessMm: number, lugWidthMm: number];
  engine: readonly [caliber: string, powerReserveHours: number];
  does: readonly ValueOf<'complications'>[];
  depthM: number;
  made: readonly [caseMaterial: ValueOf<'case_material'>, bezelMaterial: ValueOf<'bezel_material'>];
  dial: readonly [color: ValueOf<'dial_color'>, numerals: ValueOf<'dial_numerals'>];
  on: Band;
  more: readonly ValueOf<'additional_details'>[];
  /** What only this watch has to tell. */
  about: string;
  look?: Partial<Look>;
  rest?: Partial<WatchAttributes>;
};

type Band = Pick<
  WatchAttributes,
  'bracelet_material' | 'bracelet_color' | 'bracelet_links' | 'clasp_type' | 'clasp_material'
>;

export function bracelet(
  material: ValueOf<'bracelet_material'>,
  links: number,
  clasp: ValueOf<'clasp_type'> = 'fold_clasp',
): Band {
  const color = { yellow_gold: 'gold', rose_gold: 'rose_gold', gold_steel: 'gold_steel' } as const;
  return {
    bracelet_material: material,
    bracelet_color: color[material as keyof typeof color] ?? (material === 'titanium' ? 'grey' : 'steel'),
    bracelet_links: links,
    clasp_type: clasp,
    clasp_material: material as ValueOf<'clasp_material'>,
  };
}

/** A strap has no links. */
export function strap(
  material: ValueOf<'bracelet_material'>,
  color: ValueOf<'bracelet_color'>,
  clasp: ValueOf<'clasp_type'> = 'pin_buckle',
  claspMaterial: ValueOf<'clasp_material'> = 'steel',
): Band {
  return {
    bracelet_material: material,
    bracelet_color: color,
    bracelet_links: 0,
    clasp_type: clasp,
    clasp_material: claspMaterial,
  };
}

export function attributesOf(spec: WatchSpec): WatchAttributes {
  const [brand, model, reference_number] = spec.name;
  const [case_diameter_mm, case_thickness_mm, lug_width_mm] = spec.size;
  const [caliber, power_reserve_hours] = spec.engine;
  const [case_material, bezel_material] = spec.made;
  const [dial_color, dial_numerals] = spec.dial;
  return {
    brand,
    model,
    reference_number,
    year: spec.year,
    condition: spec.condition,
    gender: 'mens',
    has_box: true,
    has_papers: spec.year >= 1990,
    movement: 'automatic',
    caliber,
    complications: [...spec.does],
    power_reserve_hours,
    water_resistance_m: spec.depthM,
    case_material,
    case_diameter_mm,
    case_thickness_mm,
    lug_width_mm,
    bezel_material,
    crystal_type: 'sapphire',
    dial_color,
    dial_numerals,
    ...spec.on,
    additional_details: [...spec.more],
    handling_time: spec.price > 30_000 ? '3_5_days' : '1_3_days',
    ...spec.rest,
  };
}

/** Three paragraphs, with || between them as a dealer types it: the story, the watch, what comes with it. */
export function descriptionOf(spec: WatchSpec, watch: WatchAttributes): string {
  const material = labelOf('case_material', watch.case_material)?.toLowerCase();
  const movement = labelOf('movement', watch.movement)?.toLowerCase();
  const band = labelOf('bracelet_material', watch.bracelet_material)?.toLowerCase();
  const runs =
    watch.movement === 'quartz'
      ? 'runs on a fresh battery'
      : `runs for about ${watch.power_reserve_hours} hours when fully wound`;
  const technical = `The ${material} case measures ${watch.case_diameter_mm} mm across and ${watch.case_thickness_mm} mm in height, with ${watch.lug_width_mm} mm between the lugs, and is water-resistant to ${watch.water_resistance_m} m. Inside works the ${movement} caliber ${watch.caliber}, which ${runs}. It is worn on ${band}, closed by a ${labelOf('clasp_type', watch.clasp_type)?.toLowerCase()}.`;
  return [spec.about, technical, `${CONDITION_TEXT[watch.condition]} ${setOf(watch)}`].join(' || ');
}

const CONDITION_TEXT: Record<ValueOf<'condition'>, string> = {
  unworn: 'Unworn, with the stickers of the maker still in place where he puts any.',
  mint: 'Worn a handful of times; a loupe finds traces, the eye does not.',
  very_good: 'Light traces of wear on clasp and case, none on crystal or dial. Never over-polished.',
  good: 'Honest traces of wear all around, sharp edges, everything works as it should.',
  fair: 'Visible wear that fits its age; sold as it is, with our report on the movement.',
  poor: 'For the collector who restores; the movement runs.',
  incomplete: 'Parts are missing; see the photos.',
};

function setOf(watch: WatchAttributes): string {
  const set =
    watch.has_box && watch.has_papers
      ? 'Full set: box, papers and booklets'
      : watch.has_box
        ? 'With its box; the papers are lost'
        : watch.has_papers
          ? 'With papers, without box'
          : 'Watch only';
  return `${set}. Checked in our workshop for rate, amplitude and water resistance; 24 months of warranty.`;
}
