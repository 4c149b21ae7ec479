import { Button, Group, SimpleGrid } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { HOME_RANGES } from '../../../../src/contract/dashboard/home-ranges.ts';
import { formatBucket, formatCompact, formatNumber } from '../../format.ts';
import { paths } from '../../paths.ts';
import { failedNote, PlotPanel, RangeControl, sum } from '../../ui/plots/plot-panel.tsx';
import { useIsPhone } from '../../ui/use-is-phone.ts';
import { activityQuery, usePlotState } from '../home/home-queries.ts';

type DeliveryPlotsProps = { integrationId: string | undefined };

/** Attempts and what was given up, of the integrations that the list shows. The address says whether they are shown, and how. */
export function DeliveryPlots({ integrationId }: DeliveryPlotsProps) {
  const { range, isTable, isHidden, isShown, change } = usePlotState();
  // On a phone the rows come first: plots are there when they are asked for.
  const isPhone = useIsPhone();
  const isLeftOut = isHidden || (isPhone && !isShown && !isTable);
  const { data } = useQuery({
    ...activityQuery(range, integrationId),
    placeholderData: keepPreviousData,
    enabled: !isLeftOut,
    throwOnError: false,
  });
  if (isLeftOut) {
    return (
      <Button
        size="compact-xs"
        variant="subtle"
        mb="sm"
        onClick={() => change({ plots: isPhone ? 'shown' : undefined })}
      >
        Show plots
      </Button>
    );
  }
  const { label: period, unit } = HOME_RANGES[range];
  const succeeded = data?.attempts_succeeded ?? [];
  const failed = data?.attempts_failed ?? [];
  const dead = data?.dead_letters ?? [];
  const buckets = data?.starts.map((start) => formatBucket(start, unit, data.time_zone)) ?? [];
  const state = { buckets, period, isTable };
  const counted = { format: formatNumber, formatScale: formatCompact };
  const ofIntegration: Record<string, string> = integrationId === undefined ? {} : { integration_id: integrationId };
  return (
    <section aria-label="Attempts over time" className="list-plots">
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
        <PlotPanel
          title="Attempts"
          to={paths.deliveries()}
          search={ofIntegration}
          figure={formatNumber(sum(succeeded) + sum(failed))}
          note={failedNote(sum(failed), 'failed')}
          state={state}
          plot={{
            ...counted,
            series: [
              { label: 'Succeeded', tone: 'steel', values: succeeded },
              { label: 'Failed', tone: 'ruby', values: failed },
            ],
            empty: `No attempts in the last ${period}.`,
          }}
        />
        <PlotPanel
          title="Given up"
          to={paths.deliveries()}
          search={{ ...ofIntegration, status: 'dead_letter' }}
          figure={formatNumber(sum(dead))}
          state={state}
          plot={{
            ...counted,
            series: [{ label: 'Dead letters', tone: 'ruby', values: dead }],
            empty: `None given up in the last ${period}.`,
          }}
        />
      </SimpleGrid>
      <Group gap="xs" mt={6}>
        <RangeControl range={range} onChange={(wanted) => change({ range: wanted })} />
        <Button size="compact-xs" variant="subtle" onClick={() => change({ plots: isTable ? 'shown' : 'tables' })}>
          {isTable ? 'Show as bars' : 'Show as tables'}
        </Button>
        <Button size="compact-xs" variant="subtle" onClick={() => change({ plots: 'hidden' })}>
          Hide plots
        </Button>
      </Group>
    </section>
  );
}
