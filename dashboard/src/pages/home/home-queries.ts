import { useNavigate, useSearch } from '@tanstack/react-router';
import {
  DEFAULT_HOME_RANGE,
  HOME_RANGE_NAMES,
  type HomeRange,
} from '../../../../src/contract/dashboard/home-ranges.ts';
import { read } from '../../api/queries.ts';

/** Of all integrations, or of one. */
export const activityQuery = (range: HomeRange, integrationId?: string) =>
  read('GET /activity', { query: integrationId === undefined ? { range } : { range, integration_id: integrationId } }, [
    'order',
    'sale',
    'delivery',
    'organization',
  ]);

export const stockValueQuery = read('GET /stock-value', {}, ['item', 'organization']);

/** What the address says of the plots: how far back, as bars, tables or not at all, and sales in which currency. */
export type PlotState = {
  range: HomeRange;
  isTable: boolean;
  isShown: boolean;
  isHidden: boolean;
  currency: string | undefined;
};

export function rangeOf(search: Record<string, unknown>): HomeRange {
  return HOME_RANGE_NAMES.find((name) => name === search.range) ?? DEFAULT_HOME_RANGE;
}

export function usePlotState(): PlotState & { change(values: Record<string, string | undefined>): void } {
  const search = useSearch({ strict: false }) as Record<string, string | undefined>;
  const navigate = useNavigate();
  return {
    range: rangeOf(search),
    isTable: search.plots === 'tables',
    isShown: search.plots === 'shown',
    isHidden: search.plots === 'hidden',
    currency: search.currency,
    // Over what the address says by then: of two quick clicks neither is lost.
    change: (values) =>
      void navigate({
        to: '.',
        search: ((before: object) => ({ ...before, ...values })) as never,
        replace: true,
        resetScroll: false,
      }),
  };
}
