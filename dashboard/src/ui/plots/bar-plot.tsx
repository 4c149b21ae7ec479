import { Table, VisuallyHidden } from '@mantine/core';
import { type PointerEvent, useState } from 'react';

export type PlotSeries = { label: string; tone: 'steel' | 'brass' | 'ruby'; values: readonly number[] };

export type BarPlotProps = {
  /** What is plotted, for the caption of the table. */
  name: string;
  /** The name of each bar. */
  buckets: readonly string[];
  /** Stacked, the first at the bottom. */
  series: readonly PlotSeries[];
  /** What a value is called in full, and on the scale. */
  format: (value: number) => string;
  formatScale: (value: number) => string;
  /** What to say if there is nothing. */
  empty: string;
  isTable: boolean;
};

const HEIGHT = 100;
/** The part of its column that a bar leaves free. */
const GAP = 0.28;
/** A bar that is not zero can always be seen. */
const BAR_MIN = 1.5;

/**
 * Bars over time, drawn as SVG. Everybody can read them as a table: a screen reader always does, and all others if they ask for
 * it.
 */
export function BarPlot(props: BarPlotProps) {
  if (props.isTable) return <PlotTable {...props} />;
  return (
    <>
      <VisuallyHidden>
        <PlotTable {...props} />
      </VisuallyHidden>
      <Bars {...props} />
    </>
  );
}

function Bars({ buckets, series, format, formatScale, empty }: BarPlotProps) {
  const [pointed, setPointed] = useState<number | null>(null);
  const totals = buckets.map((_, index) => series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0));
  const max = scaleOf(Math.max(0, ...totals));
  const isEmpty = totals.every((total) => total === 0);

  function point(event: PointerEvent<HTMLDivElement>): void {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    const index = Math.floor(((event.clientX - left) / width) * buckets.length);
    setPointed(Math.max(0, Math.min(buckets.length - 1, index)));
  }

  return (
    <div className="plot" aria-hidden="true">
      <div className="plot-area" onPointerMove={point} onPointerDown={point} onPointerLeave={() => setPointed(null)}>
        <span className="plot-scale">{isEmpty ? '' : formatScale(max)}</span>
        <svg
          viewBox={`0 0 ${buckets.length} ${HEIGHT}`}
          preserveAspectRatio="none"
          focusable="false"
          aria-hidden="true"
        >
          {buckets.map((bucket, index) => (
            <Stack key={bucket} index={index} series={series} max={max} isPointed={index === pointed} />
          ))}
        </svg>
        {isEmpty ? <span className="plot-empty">{empty}</span> : null}
      </div>
      <div className="plot-foot">
        {pointed === null ? (
          <>
            <span>{buckets[0]}</span>
            <span>{buckets.at(-1)}</span>
          </>
        ) : (
          <span className="plot-pointed">
            {buckets[pointed]}:{' '}
            {series.map(({ label, values }) => `${label} ${format(values[pointed] ?? 0)}`).join(', ')}
          </span>
        )}
      </div>
    </div>
  );
}

type StackProps = { index: number; series: readonly PlotSeries[]; max: number; isPointed: boolean };

function Stack({ index, series, max, isPointed }: StackProps) {
  let top = HEIGHT;
  return (
    <g data-pointed={isPointed || undefined}>
      <rect className="plot-column" x={index} y={0} width={1} height={HEIGHT} />
      {series.map(({ label, tone, values }) => {
        const value = Math.max(0, values[index] ?? 0);
        if (value === 0) return null;
        const height = Math.max(BAR_MIN, (value / max) * HEIGHT);
        top = Math.max(0, top - height);
        return (
          <rect
            key={label}
            className="plot-bar"
            data-tone={tone}
            x={index + GAP / 2}
            y={top}
            width={1 - GAP}
            height={height}
          />
        );
      })}
    </g>
  );
}

/** The next of 1, 2, 5, 10, 20 … that is not below the highest bar. */
function scaleOf(highest: number): number {
  if (highest <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(highest));
  return ([1, 2, 5, 10].find((step) => step * power >= highest) ?? 10) * power;
}

function PlotTable({ name, buckets, series, format }: BarPlotProps) {
  return (
    <Table className="plot-table" withRowBorders={false} verticalSpacing={2}>
      <caption>{name}</caption>
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">Time</Table.Th>
          {series.map(({ label }) => (
            <Table.Th key={label} scope="col" ta="right">
              {label}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {buckets.map((bucket, index) => (
          <Table.Tr key={bucket}>
            <Table.Th scope="row" fw={400}>
              {bucket}
            </Table.Th>
            {series.map(({ label, values }) => (
              <Table.Td key={label} ta="right">
                {format(values[index] ?? 0)}
              </Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
