import type { Kind } from '../../stock/stock-queries.ts';
import { emptyAttributes } from '../attributes.ts';
import type { Item } from '../item-queries.ts';

/** What people type. The price and the cost are minor units; units are those that can be sold. */
export type ItemValues = {
  stock_number: string;
  title: string;
  description: string;
  price_amount: number | null;
  tax_treatment: Item['tax_treatment'];
  location_id: string | null;
  serial_number: string | null;
  cost_amount: number | null;
  private_notes: string;
  /** Null while the field is empty. */
  units: number | null;
  attributes: Record<string, unknown>;
};

export function valuesOf(item: Item): ItemValues {
  return {
    stock_number: item.stock_number,
    title: item.title,
    description: item.description,
    price_amount: item.price_amount,
    tax_treatment: item.tax_treatment,
    location_id: item.location_id,
    serial_number: item.serial_number,
    cost_amount: item.cost_amount,
    private_notes: item.private_notes,
    units: item.free_units,
    attributes: item.attributes,
  };
}

export function emptyValues(kind: Kind): ItemValues {
  return {
    stock_number: '',
    title: '',
    description: '',
    price_amount: null,
    tax_treatment: null,
    location_id: null,
    serial_number: null,
    cost_amount: null,
    private_notes: '',
    units: 1,
    attributes: emptyAttributes(kind),
  };
}

/** The fields that differ, attributes one by one: a save names nothing else, so it can't undo what others did. */
export function changedFields(before: ItemValues, after: ItemValues): Partial<ItemValues> {
  const { attributes: oldAttributes, ...old } = before;
  const { attributes: newAttributes, ...now } = after;
  const changed = differing(old, now);
  const attributes = differing(oldAttributes, newAttributes);
  return { ...changed, ...(Object.keys(attributes).length === 0 ? {} : { attributes }) };
}

export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one ?? null) === JSON.stringify(other ?? null);
}

function differing(before: object, after: object): Record<string, unknown> {
  const old = before as Record<string, unknown>;
  return Object.fromEntries(Object.entries(after).filter(([name, value]) => !isSame(old[name], value)));
}
