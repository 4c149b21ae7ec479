import { Text } from '@mantine/core';
import { auditActionText } from '../../../../src/contract/audit-actions.ts';
import { useSession } from '../../shell/session/session.ts';
import { Icon } from '../../ui/icons.tsx';
import type { AuditEntry, FieldChange } from './audit-queries.ts';
import { fieldLabel, valueText } from './field-text.ts';

/** Ids that mean nothing to people; the action says what was done. */
const UNNAMED = new Set(['photoId', 'photoIds', 'position', 'promotionId', 'replayId', 'saleId']);

type ChangeListProps = {
  changes: FieldChange[];
  personalFields?: string[];
  /** Of ids among the values. */
  names?: Readonly<Record<string, string>>;
};

/** What changed, each field as it was and as it is. */
export function ChangeList({ changes, personalFields = [], names = {} }: ChangeListProps) {
  const { organization } = useSession();
  const context = { currency: currencyOf(changes) ?? organization.currency, timeZone: organization.time_zone, names };
  const text = (field: string, value: unknown) => valueText(field, value, context);
  const shown = ofPromotion(changes)
    .flatMap(eachField)
    .filter(({ field }) => !UNNAMED.has(field) && !(field === 'currency' && isOfSale(changes)));
  if (shown.length === 0 && personalFields.length === 0) return null;
  return (
    <ul className="change-list">
      {shown.map(({ field, old, new: now }) => (
        <li key={field}>
          <Text component="span" size="sm" fw={600}>
            {fieldLabel(field)}
          </Text>{' '}
          {old === null ? null : (
            <>
              <s>{text(field, old)}</s> <Icon name="forward" size={12} />{' '}
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

/** Attributes are one value in the log; people read them one by one. What is the same on both sides says what it is about. */
function eachField(change: FieldChange): FieldChange[] {
  if (JSON.stringify(change.old) === JSON.stringify(change.new)) return [{ ...change, old: null }];
  if (change.field !== 'attributes') return [change];
  const [old, now] = [change.old ?? {}, change.new ?? {}] as [Record<string, unknown>, Record<string, unknown>];
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])];
  return names
    .map((field) => ({ field, old: old[field] ?? null, new: now[field] ?? null }))
    .filter((one) => JSON.stringify(one.old) !== JSON.stringify(one.new));
}

/**
 * A promotion's start before its end, which the log has the other way round. Of one that was ended nothing is left: what
 * it was stands there without "nothing" beside it.
 */
function ofPromotion(changes: FieldChange[]): FieldChange[] {
  const start = changes.find(({ field }) => field === 'startsAt');
  if (start === undefined) return changes;
  const end = changes.filter(({ field }) => field === 'endsAt');
  const ordered = [...changes.filter((one) => one !== start && !end.includes(one)), start, ...end];
  if (start.new !== null) return ordered;
  return ordered.flatMap(({ field, old }) => (old === null ? [] : [{ field, old: null, new: old }]));
}

const isOfSale = (changes: FieldChange[]) => changes.some(({ field }) => field === 'amount');

/** Of the amount of a sale, which stands beside it. Older entries have none: their sale was in that of the business. */
function currencyOf(changes: FieldChange[]): string | null {
  const own = isOfSale(changes) ? changes.find(({ field }) => field === 'currency')?.new : undefined;
  return typeof own === 'string' ? own : null;
}

/** What was done, in a few words. */
export function actionText({ action, changes }: Pick<AuditEntry, 'action' | 'changes'>): string {
  return auditActionText(action, Object.fromEntries(changes.map((one) => [one.field, one.new])));
}

/** Who it was, in a word or two. */
export function actorName({ actor }: AuditEntry): string {
  if (actor.kind === 'command_line') return 'Command line';
  if (actor.kind === 'job') return actor.name ?? 'Background job';
  return actor.name ?? 'Somebody who left';
}
