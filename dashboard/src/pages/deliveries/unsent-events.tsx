import { Text } from '@mantine/core';
import {
  UNSENT_REASON_LABELS,
  type UnsentReason,
} from '../../../../src/contract/dashboard/integrations/delivery-labels.ts';
import { formatCount } from '../../format.ts';
import { paths } from '../../paths.ts';
import { TextLink } from '../../ui/text-link.tsx';
import type { DeliveryChoices } from './delivery-queries.ts';

type UnsentEventsProps = { choices: DeliveryChoices | undefined; match: Record<string, string> };

/** What is searched for may never have been sent: such events have no delivery, so the list can't show them. */
export function UnsentEvents({ choices, match }: UnsentEventsProps) {
  const reasons = (Object.keys(UNSENT_REASON_LABELS) as UnsentReason[]).flatMap((reason) => {
    const count = choices?.unsent[reason];
    return count === undefined || count.value === 0 ? [] : [{ reason, count }];
  });
  if (reasons.length === 0) return null;
  // Events have no answer.
  const { code: _code, ...filters } = match;
  return (
    <Text size="sm" c="dimmed" mb="sm">
      Events without a delivery:{' '}
      {reasons.map(({ reason, count }, index) => (
        <span key={reason}>
          {index === 0 ? '' : ' · '}
          <TextLink to={paths.events()} search={{ ...filters, outcome: reason }}>
            {UNSENT_REASON_LABELS[reason]} ({formatCount(count)})
          </TextLink>
        </span>
      ))}
    </Text>
  );
}
