import { Text } from '@mantine/core';
import { formatMoney, formatNumber, formatTime } from '../../format.ts';
import { useSession } from '../../shell/session.ts';
import type { AuditEntry, FieldChange } from './audit-queries.ts';

/** Fields whose name in the log is not what people call them. The others are split into words. */
const FIELD_LABELS: Record<string, string> = {
  priceAmount: 'Price',
  costAmount: 'Cost',
  isHidden: 'Hidden',
  isOn: 'Published',
  isEnabled: 'Enabled',
  isTestMode: 'Test mode',
  isProvisioned: 'Provisioned',
  hasPlan: 'Plan with integrations',
  defaultTaxTreatment: 'Tax',
  staffSeesCost: 'Staff may see cost prices',
  locationId: 'Location',
  businessUnitId: 'Business unit',
  url: 'URL',
};

export function fieldLabel(field: string): string {
  const words = field
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase();
  return FIELD_LABELS[field] ?? words.charAt(0).toUpperCase() + words.slice(1);
}

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}/;

function useValueText(): (field: string, value: unknown) => string {
  const { organization } = useSession();
  return function text(field, value): string {
    if (value === null || value === undefined || value === '') return 'nothing';
    if (typeof value === 'boolean') return value ? 'yes' : 'no';
    if (typeof value === 'number') {
      return field.endsWith('Amount') ? formatMoney(value, organization.currency) : formatNumber(value);
    }
    if (typeof value === 'string') return TIME.test(value) ? formatTime(value) : value;
    if (Array.isArray(value)) return value.length === 0 ? 'nothing' : value.map((one) => text('', one)).join(', ');
    const entries = Object.entries(value).filter(([, one]) => one !== null);
    return entries.map(([name, one]) => `${fieldLabel(name)}: ${text(name, one)}`).join('; ') || 'nothing';
  };
}

/** What changed, each field as it was and as it is. */
export function ChangeList({ changes, personalFields = [] }: { changes: FieldChange[]; personalFields?: string[] }) {
  const text = useValueText();
  if (changes.length === 0 && personalFields.length === 0) return null;
  return (
    <ul className="change-list">
      {changes.map(({ field, old, new: now }) => (
        <li key={field}>
          <Text component="span" size="sm" fw={600}>
            {fieldLabel(field)}
          </Text>{' '}
          {old === null ? null : (
            <>
              <s>{text(field, old)}</s> →{' '}
            </>
          )}
          <span>{text(field, now)}</span>
        </li>
      ))}
      {personalFields.length === 0 ? null : (
        <li>{personalFields.map(fieldLabel).join(', ')} (about a person: values are not kept)</li>
      )}
    </ul>
  );
}

/** Who it was, in a word or two. */
export function actorName({ actor }: AuditEntry): string {
  if (actor.kind === 'command_line') return 'Command line';
  if (actor.kind === 'job') return actor.name ?? 'Background job';
  return actor.name ?? 'Somebody who left';
}
