import { Button, Group, SegmentedControl, SimpleGrid, Title } from '@mantine/core';
import { HOME_RANGES } from '../../../../src/contract/dashboard/home-ranges.ts';
import type { Output } from '../../api/client.ts';
import { useKeptQuery } from '../../api/queries.ts';
import { formatBucket, formatCompact, formatCompactMoney, formatMoney, formatNumber } from '../../format.ts';
import { paths } from '../../paths.ts';
import { ErrorState } from '../../ui/page/states.tsx';
import { failedNote, PlotPanel, RangeControl, sum } from '../../ui/plots/plot-panel.tsx';
import { activityQuery, type PlotState, usePlotState } from './home-queries.ts';

type Activity = Output<'GET /activity'>;
type PanelState = PlotState & { activity: Activity; buckets: string[]; period: string };

/** Plots of what happened lately. The numbers are counted as things happen; none of them is a scan. */
export function ActivityPlots() {
  const state = usePlotState();
  const { data, error, refetch } = useKeptQuery(activityQuery(state.range));
  const { label, unit } = HOME_RANGES[state.range];
  return (
    <section aria-labelledby="activity">
      <Group justify="space-between" mb="xs" gap="xs">
        <Title order={2} size="h4" id="activity">
          Activity
        </Title>
        <Group gap="xs">
          <RangeControl range={state.range} onChange={(range) => state.change({ range })} />
          <Button
            size="compact-xs"
            variant="subtle"
            onClick={() => state.change({ plots: state.isTable ? undefined : 'tables' })}
          >
            {state.isTable ? 'Show as bars' : 'Show as tables'}
          </Button>
        </Group>
      </Group>
      {data === undefined ? (
        error === null ? null : (
          <ErrorState error={error} onRetry={() => void refetch()} />
        )
      ) : (
        <Panels
          {...state}
          activity={data}
          period={label}
          buckets={data.starts.map((start) => formatBucket(start, unit, data.time_zone))}
          onCurrency={(currency) => state.change({ currency })}
        />
      )}
    </section>
  );
}

function Panels({ onCurrency, ...state }: PanelState & { onCurrency: (currency: string) => void }) {
  const { activity, period } = state;
  const attempts = [activity.attempts_succeeded, activity.attempts_failed].map(sum);
  const counted = { format: formatNumber, formatScale: formatCompact };
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
      <SalesPanel {...state} onCurrency={onCurrency} />
      <PlotPanel
        title="Orders"
        to={paths.orders()}
        search={{ tab: 'all' }}
        figure={formatNumber(sum(activity.orders))}
        state={state}
        plot={{
          ...counted,
          series: [{ label: 'Orders', tone: 'steel', values: activity.orders }],
          empty: `No orders in the last ${period}.`,
        }}
      />
      <PlotPanel
        title="Webhook attempts"
        to={paths.deliveries()}
        figure={formatNumber((attempts[0] ?? 0) + (attempts[1] ?? 0))}
        note={failedNote(attempts[1] ?? 0, 'failed')}
        state={state}
        plot={{
          ...counted,
          series: [
            { label: 'Succeeded', tone: 'steel', values: activity.attempts_succeeded },
            { label: 'Failed', tone: 'ruby', values: activity.attempts_failed },
          ],
          empty: `No webhooks in the last ${period}.`,
        }}
      />
      <PlotPanel
        title="API requests"
        to={paths.requests()}
        figure={formatNumber(sum(activity.requests))}
        note={failedNote(sum(activity.request_errors), 'answered by an error')}
        state={state}
        plot={{
          ...counted,
          series: [
            {
              label: 'Answered',
              tone: 'steel',
              values: activity.requests.map((count, index) => count - (activity.request_errors[index] ?? 0)),
            },
            { label: 'Errors', tone: 'ruby', values: activity.request_errors },
          ],
          empty: `No API requests in the last ${period}.`,
        }}
      />
    </SimpleGrid>
  );
}

/** One currency at a time: bars of francs and of dollars can't be compared. */
function SalesPanel({ onCurrency, ...state }: PanelState & { onCurrency: (currency: string) => void }) {
  const { amounts, sales } = state.activity;
  const shown = amounts.find(({ currency }) => currency === state.currency) ?? amounts[0];
  const count = sum(sales);
  const money = (value: number) => (shown === undefined ? formatNumber(value) : formatMoney(value, shown.currency));
  return (
    <PlotPanel
      title="Sales"
      to={paths.sales()}
      figure={shown === undefined ? formatNumber(count) : money(sum(shown.values))}
      note={shown === undefined ? null : `${formatNumber(count)} ${count === 1 ? 'sale' : 'sales'}`}
      control={
        amounts.length < 2 ? null : (
          <SegmentedControl
            size="xs"
            aria-label="Currency of sales"
            value={shown?.currency ?? ''}
            onChange={onCurrency}
            data={amounts.map(({ currency }) => currency)}
          />
        )
      }
      state={state}
      plot={{
        format: money,
        formatScale: (value) =>
          shown === undefined ? formatCompact(value) : formatCompactMoney(value, shown.currency),
        series: [{ label: shown?.currency ?? 'Sales', tone: 'brass', values: shown?.values ?? sales }],
        empty: `No sales in the last ${state.period}.`,
      }}
    />
  );
}
