import { Skeleton } from '@mantine/core';
import { type Column, phoneColumns } from '../columns.ts';
import { RowCheckbox, TitleLink } from './desktop-rows.tsx';
import { isOwnClick, type RowsProps, rowAttributes } from './rows.ts';

/** The rows of a phone: what names them, a figure at the side, and the rest in a line below. */
export function PhoneRows<Row>(props: RowsProps<Row>) {
  const places = phoneColumns(props.columns);
  if (props.rows === undefined) return <PhoneSkeleton />;
  return (
    <ul className="phone-rows" aria-label={props.name}>
      {props.rows.map((row, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the title is a link, and j, k and Enter reach every row.
        <li
          key={props.idOf(row)}
          className="phone-row"
          {...rowAttributes(props, row, index)}
          onClick={(event) => isOwnClick(event.target) && props.open(row)}
        >
          {props.selection?.isSelecting ? <RowCheckbox {...props} row={row} index={index} size="md" /> : null}
          <div className="phone-row-body">
            <div className="phone-row-head">
              {places.title.map((column) => (
                <div key={column.id} className="phone-row-title">
                  {column.isTitle ? (
                    <TitleLink path={props.pathOf(row)}>{contentOf(column, row)}</TitleLink>
                  ) : (
                    contentOf(column, row)
                  )}
                </div>
              ))}
              {places.side.map((column) => (
                <div key={column.id} className="phone-row-side">
                  {contentOf(column, row)}
                </div>
              ))}
              {places.corner.map((column) => (
                <div key={column.id} className="phone-row-corner">
                  {contentOf(column, row)}
                </div>
              ))}
            </div>
            {places.line.length === 0 ? null : (
              <dl className="phone-row-line">
                {places.line.map((column) => (
                  <div key={column.id}>
                    <dt className="visually-hidden">{column.header}</dt>
                    <dd>{contentOf(column, row)}</dd>
                  </div>
                ))}
              </dl>
            )}
          </div>
        </li>
      ))}
    </ul>
  );
}

function contentOf<Row>(column: Column<Row>, row: Row) {
  return (column.phoneCell ?? column.cell)(row);
}

const SKELETON_ROWS = Array.from({ length: 6 }, (_, index) => `skeleton-${index}`);

function PhoneSkeleton() {
  return (
    <div className="phone-rows" aria-busy="true">
      {SKELETON_ROWS.map((key) => (
        <div key={key} className="phone-row">
          <Skeleton height={56} />
        </div>
      ))}
    </div>
  );
}
