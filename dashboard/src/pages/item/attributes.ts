import type { Enumeration } from '../../../../src/contract/enumerations.ts';
import type { Kind } from '../stock/stock-queries.ts';

/** One attribute of the form. `one` and `many` are choices of the contract's enumerations. */
export type AttributeField = { name: string; label: string; isRequired?: boolean } & (
  | { type: 'text' | 'yes-no' }
  | { type: 'number'; min: number; max: number; decimals?: number; unit?: string }
  | { type: 'one' | 'many'; of: Enumeration }
);

export type AttributeGroup = { title: string; fields: AttributeField[] };

const WATCH: AttributeGroup[] = [
  {
    title: 'Watch',
    fields: [
      { name: 'brand', label: 'Brand', type: 'text', isRequired: true },
      { name: 'model', label: 'Model', type: 'text', isRequired: true },
      { name: 'reference_number', label: 'Reference', type: 'text' },
      { name: 'year', label: 'Year', type: 'number', min: 1500, max: 2200 },
      { name: 'condition', label: 'Condition', type: 'one', of: 'condition', isRequired: true },
      { name: 'gender', label: 'Made for', type: 'one', of: 'gender' },
      { name: 'has_box', label: 'Original box', type: 'yes-no' },
      { name: 'has_papers', label: 'Original papers', type: 'yes-no' },
    ],
  },
  {
    title: 'Movement',
    fields: [
      { name: 'movement', label: 'Movement', type: 'one', of: 'movement' },
      { name: 'caliber', label: 'Caliber', type: 'text' },
      { name: 'power_reserve_hours', label: 'Power reserve', type: 'number', min: 0, max: 100_000, unit: 'h' },
      { name: 'complications', label: 'Complications', type: 'many', of: 'complications' },
    ],
  },
  {
    title: 'Case and dial',
    fields: [
      { name: 'case_material', label: 'Case', type: 'one', of: 'case_material' },
      { name: 'case_diameter_mm', label: 'Diameter', type: 'number', min: 0.01, max: 200, decimals: 2, unit: 'mm' },
      { name: 'case_thickness_mm', label: 'Thickness', type: 'number', min: 0.01, max: 100, decimals: 2, unit: 'mm' },
      { name: 'water_resistance_m', label: 'Water resistance', type: 'number', min: 0, max: 100_000, unit: 'm' },
      { name: 'bezel_material', label: 'Bezel', type: 'one', of: 'bezel_material' },
      { name: 'crystal_type', label: 'Crystal', type: 'one', of: 'crystal_type' },
      { name: 'dial_color', label: 'Dial', type: 'one', of: 'dial_color' },
      { name: 'dial_numerals', label: 'Numerals', type: 'one', of: 'dial_numerals' },
    ],
  },
  {
    title: 'Bracelet',
    fields: [
      { name: 'bracelet_material', label: 'Bracelet', type: 'one', of: 'bracelet_material' },
      { name: 'bracelet_color', label: 'Bracelet colour', type: 'one', of: 'bracelet_color' },
      { name: 'bracelet_links', label: 'Links', type: 'number', min: 0, max: 1_000 },
      { name: 'lug_width_mm', label: 'Lug width', type: 'number', min: 0.01, max: 100, decimals: 2, unit: 'mm' },
      { name: 'clasp_type', label: 'Clasp', type: 'one', of: 'clasp_type' },
      { name: 'clasp_material', label: 'Clasp material', type: 'one', of: 'clasp_material' },
    ],
  },
  {
    title: 'More',
    fields: [
      { name: 'additional_details', label: 'Details', type: 'many', of: 'additional_details' },
      { name: 'handling_time', label: 'Ships within', type: 'one', of: 'handling_time' },
    ],
  },
];

const PART: AttributeGroup[] = [
  {
    title: 'Part',
    fields: [
      { name: 'category', label: 'Kind of part', type: 'one', of: 'part_category', isRequired: true },
      { name: 'part_number', label: 'Part number', type: 'text' },
      { name: 'brand', label: 'Brand', type: 'text' },
      { name: 'condition', label: 'Condition', type: 'one', of: 'condition', isRequired: true },
    ],
  },
];

export const ATTRIBUTES: Record<Kind, AttributeGroup[]> = { listing: WATCH, part: PART };

/** The attributes of an item that nobody has filled in yet. */
export function emptyAttributes(kind: Kind): Record<string, unknown> {
  const fields = ATTRIBUTES[kind].flatMap((group) => group.fields);
  const empty = Object.fromEntries(fields.map(({ name, type }) => [name, EMPTY[type]]));
  return kind === 'part'
    ? { ...empty, category: 'other', condition: 'unworn', compatibility: [] }
    : { ...empty, brand: '', model: '', condition: 'very_good' };
}

const EMPTY: Record<AttributeField['type'], unknown> = {
  text: null,
  number: null,
  one: null,
  many: [],
  'yes-no': false,
};
