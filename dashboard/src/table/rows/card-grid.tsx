import { Skeleton } from '@mantine/core';
import type { ReactNode } from 'react';
import { RowCheckbox } from './desktop-rows.tsx';
import { isOwnClick, type RowsProps, rowAttributes } from './rows.ts';

const SKELETON_CARDS = Array.from({ length: 8 }, (_, index) => `skeleton-${index}`);

/** The rows as cards; what is inside comes from the page. */
export function CardGrid<Row>(props: RowsProps<Row> & { card: (row: Row) => ReactNode }) {
  if (props.rows === undefined) {
    return (
      <div className="card-grid" aria-busy="true">
        {SKELETON_CARDS.map((key) => (
          <Skeleton key={key} height={280} />
        ))}
      </div>
    );
  }
  return (
    <ul className="card-grid" aria-label={props.name}>
      {props.rows.map((row, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the card holds a link, and j, k and Enter reach every card.
        <li
          key={props.idOf(row)}
          className="card"
          {...rowAttributes(props, row, index)}
          onClick={(event) => isOwnClick(event.target) && props.open(row)}
        >
          {props.selection === null ? null : (
            <div className="card-select">
              <RowCheckbox {...props} row={row} index={index} />
            </div>
          )}
          {props.card(row)}
        </li>
      ))}
    </ul>
  );
}
