import { DELIVERY_STATUS_LABELS } from '../../../../src/contract/dashboard/integrations/delivery-labels.ts';
import { ENUMERATIONS } from '../../../../src/contract/enumerations.ts';
import { GONE_LIMIT } from '../../../../src/contract/limits.ts';
import { formatMoney, formatNumber, formatZonedTime } from '../../format.ts';
import { ATTRIBUTES, type AttributeField } from '../item/attributes.ts';

/**
 * How people call the fields of the audit log and of the item's form, and how they read their values. The log has the
 * service's names (`priceAmount`), the form those of the wire (`price_amount`); both mean the same.
 */
const FIELD_LABELS: Record<string, string> = {
  price_amount: 'Price',
  cost_amount: 'Cost',
  private_notes: 'Notes',
  tax_treatment: 'Tax',
  default_tax_treatment: 'Tax',
  is_hidden: 'Hidden',
  is_on: 'Published',
  is_enabled: 'Enabled',
  is_test_mode: 'Test mode',
  is_provisioned: 'Provisioned',
  has_plan: 'Plan with integrations',
  staff_sees_cost: 'Staff may see cost prices',
  location_id: 'Location',
  business_unit_id: 'Business unit',
  customer_id: 'Buyer',
  integration_id: 'Channel',
  reservation_id: 'Reservation',
  starts_at: 'Starts',
  ends_at: 'Ends',
  markup_basis_points: 'Markup',
  url: 'URL',
};

const ATTRIBUTE_FIELDS = new Map<string, AttributeField>(
  [...ATTRIBUTES.part, ...ATTRIBUTES.listing].flatMap(({ fields }) => fields.map((field) => [field.name, field])),
);

const wireName = (field: string) => field.replaceAll(/([a-z])([A-Z])/g, '$1_$2').toLowerCase();

export function fieldLabel(field: string): string {
  const name = wireName(field);
  const words = name.replaceAll('_', ' ');
  return FIELD_LABELS[name] ?? ATTRIBUTE_FIELDS.get(name)?.label ?? words.charAt(0).toUpperCase() + words.slice(1);
}

export type TextContext = {
  currency: string;
  /** Of ids, such as locations and channels. */
  names: Readonly<Record<string, string>>;
  /** Of the business: times are read in the zone in which people enter them. */
  timeZone: string;
};

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}/;
const NOTHING = 'nothing';
/** Where no value says more than that there is none. */
const NOTHING_BY_FIELD: Record<string, string> = { ends_at: 'never' };
const BASIS_POINTS_PER_PERCENT = 100;

/** A value as people read it: money with its currency, names for ids, labels for choices. */
export function valueText(field: string, value: unknown, context: TextContext): string {
  const name = wireName(field);
  if (value === null || value === undefined || value === '') return NOTHING_BY_FIELD[name] ?? NOTHING;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return numberText(name, value, context);
  if (typeof value === 'string') {
    return context.names[value] ?? choiceText(name, value) ?? timeText(value, context);
  }
  if (Array.isArray(value)) {
    return value.length === 0 ? NOTHING : value.map((one) => valueText(field, one, context)).join(', ');
  }
  const entries = Object.entries(value).filter(([, one]) => one !== null);
  return entries.map(([key, one]) => `${fieldLabel(key)}: ${valueText(key, one, context)}`).join('; ') || NOTHING;
}

function timeText(value: string, { timeZone }: TextContext): string {
  return TIME.test(value) ? formatZonedTime(value, timeZone) : value;
}

function numberText(name: string, value: number, { currency }: TextContext): string {
  if (name === 'amount' || name.endsWith('_amount')) return formatMoney(value, currency);
  if (name.endsWith('_basis_points')) return `${formatNumber(value / BASIS_POINTS_PER_PERCENT)} %`;
  if (name === 'year') return String(value);
  const field = ATTRIBUTE_FIELDS.get(name);
  const unit = field?.type === 'number' && field.unit !== undefined ? ` ${field.unit}` : '';
  return `${formatNumber(value)}${unit}`;
}

function choiceText(name: string, value: string): string | undefined {
  const field = ATTRIBUTE_FIELDS.get(name);
  const enumeration = field?.type === 'one' || field?.type === 'many' ? field.of : name;
  const labels: Record<string, Record<string, string>> = {
    ...ENUMERATIONS,
    kind: { listing: 'watch' },
    statuses: DELIVERY_STATUS_LABELS,
    reason: { gone: `410 Gone, ${GONE_LIMIT} times in a row` },
  };
  return labels[enumeration === 'default_tax_treatment' ? 'tax_treatment' : enumeration]?.[value];
}
