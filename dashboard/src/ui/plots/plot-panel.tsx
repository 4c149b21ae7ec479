import { Anchor, Group, SegmentedControl, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { HOME_RANGE_NAMES, HOME_RANGES, type HomeRange } from '../../../../src/contract/dashboard/home-ranges.ts';
import { formatNumber } from '../../format.ts';
import { BarPlot, type BarPlotProps } from './bar-plot.tsx';

type PlotPanelProps = {
  title: string;
  to: string;
  search?: Record<string, string>;
  figure: string;
  note?: ReactNode;
  control?: ReactNode;
  state: { buckets: string[]; period: string; isTable: boolean };
  plot: Pick<BarPlotProps, 'series' | 'format' | 'formatScale' | 'empty'>;
};

/** One plot with its figure; the title leads to the rows that it counts. */
export function PlotPanel({ title, to, search, figure, note, control, state, plot }: PlotPanelProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms, and a region for each plot would be too many.
    <div className="plot-panel" role="group" aria-label={title} data-table={state.isTable || undefined}>
      <Group justify="space-between" wrap="nowrap" align="flex-start" gap="xs">
        <div>
          <Anchor component={Link} to={to} search={(search ?? {}) as never} underline="hover" className="plot-title">
            {title}
          </Anchor>
          <div className="plot-figure">
            {figure}
            {note === null || note === undefined ? null : <span className="plot-note">{note}</span>}
          </div>
        </div>
        {control}
      </Group>
      <BarPlot {...plot} name={`${title}, last ${state.period}`} buckets={state.buckets} isTable={state.isTable} />
      {plot.series.length < 2 ? null : (
        <Group gap="md" mt={4} aria-hidden={state.isTable ? undefined : true}>
          {plot.series.map(({ label, tone }) => (
            <Text key={label} size="xs" className="plot-key" data-tone={tone}>
              {label}
            </Text>
          ))}
        </Group>
      )}
    </div>
  );
}

/** How far back plots reach. */
export function RangeControl({ range, onChange }: { range: HomeRange; onChange: (range: string) => void }) {
  return (
    <SegmentedControl
      size="xs"
      aria-label="Period"
      value={range}
      onChange={onChange}
      data={HOME_RANGE_NAMES.map((name) => ({ value: name, label: HOME_RANGES[name].label }))}
    />
  );
}

export function failedNote(count: number, what: string): ReactNode {
  return count === 0 ? null : <span className="plot-failed">{`${formatNumber(count)} ${what}`}</span>;
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
