import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { formatCount } from '../format.ts';
import type { Selection } from './selection.ts';

type BulkBarProps = { selection: Selection /** There are other pages. */; hasMore: boolean; children: ReactNode };

/** How much is selected and what can be done with it: above the rows, on a phone under the thumb. */
export function BulkBar({ selection, hasMore, children }: BulkBarProps) {
  if (selection.ids.length === 0) return null;
  const { isAllMatching, count } = selection;
  return (
    <section className="bulk-bar" aria-label="Selection">
      <Text size="sm" role="status">
        {isAllMatching ? `All ${formatCount(count)} that match` : `${formatCount(count)} selected`}
      </Text>
      {!isAllMatching && hasMore ? (
        <button type="button" className="text-button" onClick={selection.selectAllMatching}>
          Select all that match
        </button>
      ) : null}
      {children}
      <button type="button" className="text-button" onClick={selection.clear}>
        Clear
      </button>
    </section>
  );
}
