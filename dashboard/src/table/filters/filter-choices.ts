import { PERIODS, type Period, TEST_DATA_LABELS } from '../../../../src/contract/dashboard/orders/order-labels.ts';
import { EVENT_TYPES } from '../../../../src/contract/event-types.ts';
import type { ChoiceFilter, Filter } from './filters.tsx';
import type { TimeRangeFilter } from './time-range.tsx';

/** Filters that several lists have. */

export function optionsOf(labels: Readonly<Record<string, string>>): { value: string; label: string }[] {
  return Object.entries(labels).map(([value, label]) => ({ value, label }));
}

export const EVENT_TYPE_FILTER: ChoiceFilter = {
  name: 'type',
  label: 'Event',
  options: Object.keys(EVENT_TYPES).map((type) => ({ value: type, label: type })),
};

export function integrationFilter(label: string, names: ReadonlyMap<string, string>): ChoiceFilter {
  return { name: 'integration_id', label, options: [...names].map(([value, name]) => ({ value, label: name })) };
}

export const TEST_DATA_FILTER: ChoiceFilter = {
  name: 'test',
  label: 'Test data',
  options: optionsOf(TEST_DATA_LABELS),
};

/** `label` says which time of a row it is. */
export function periodFilter(label: string): ChoiceFilter {
  return {
    name: 'period',
    label,
    options: Object.entries(PERIODS).map(([value, period]) => ({ value, label: period.label })),
  };
}

/** The same with two ends of one's own; a list that keeps less names the periods that it has. */
export function timeRangeFilter(label: string, kept?: readonly Period[]): TimeRangeFilter {
  const { name: period, options } = periodFilter(label);
  const periods = options.filter(({ value }) => kept === undefined || kept.some((one) => one === value));
  return { label, period, from: 'from', to: 'to', periods };
}

/** A filter that has nothing to choose from is not shown. */
export function withOptions(filters: readonly Filter[]): Filter[] {
  return filters.filter((filter) => !('options' in filter) || filter.options.length > 0);
}
