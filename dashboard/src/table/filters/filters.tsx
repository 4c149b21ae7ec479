import { Button, NumberInput, Popover, Select } from '@mantine/core';
import { useState } from 'react';
import { formatNumber } from '../../format.ts';
import type { ListState, ListStateSetters } from '../list-state.ts';
import { type RangeEnd, RangeForm } from './range-form.tsx';
import { TimeRangeField, type TimeRangeFilter } from './time-range.tsx';

/** A filter of a list: one choice, kept in the address under `name`. */
export type ChoiceFilter = { name: string; label: string; options: readonly { value: string; label: string }[] };
/** From one figure to another, kept in the address under two names, in units of 10^-decimals. */
export type RangeFilter = { label: string; from: string; to: string; unit: string; decimals: number };
export type Filter = ChoiceFilter | RangeFilter | TimeRangeFilter;

type FilterFieldsProps = { filters: readonly Filter[]; state: ListState & ListStateSetters; isStacked?: boolean };

/** Above this a list of choices can be searched in. */
const SEARCHABLE_FROM = 8;

export function FilterFields({ filters, state, isStacked = false }: FilterFieldsProps) {
  return filters.map((filter) =>
    'period' in filter ? (
      <TimeRangeField key={filter.period} filter={filter} state={state} isStacked={isStacked} />
    ) : 'options' in filter ? (
      <Select
        key={filter.name}
        size={isStacked ? 'md' : 'xs'}
        w={isStacked ? '100%' : 124}
        label={isStacked ? filter.label : undefined}
        placeholder={isStacked ? 'Any' : filter.label}
        aria-label={filter.label}
        data={filter.options as { value: string; label: string }[]}
        value={state.filters[filter.name] ?? null}
        clearable
        clearButtonProps={{ 'aria-label': `Clear ${filter.label}` }}
        searchable={filter.options.length > SEARCHABLE_FROM}
        comboboxProps={{ width: 'max-content', position: 'bottom-start' }}
        onChange={(value) => state.setFilter(filter.name, value ?? '')}
      />
    ) : (
      <RangeField key={filter.from} filter={filter} state={state} isStacked={isStacked} />
    ),
  );
}

type RangeFieldProps = { filter: RangeFilter; state: ListState & ListStateSetters; isStacked: boolean };

function RangeField({ filter, state, isStacked }: RangeFieldProps) {
  const [isOpen, setOpen] = useState(false);
  const { label, from, to, unit, decimals } = filter;
  const scale = 10 ** decimals;
  const shown = (name: string) => (state.filters[name] === undefined ? '' : Number(state.filters[name]) / scale);
  const [values, setValues] = useState({ from: shown(from), to: shown(to) });
  const stored = (value: string | number) => (value === '' ? '' : String(Math.round(Number(value) * scale)));
  const apply = () => {
    state.setFilters({ [from]: stored(values.from), [to]: stored(values.to) });
    setOpen(false);
  };
  const open = () => {
    setValues({ from: shown(from), to: shown(to) });
    setOpen(true);
  };
  const size = isStacked ? 'md' : 'xs';
  const field = (end: RangeEnd) => (
    <NumberInput
      size={size}
      label={`${label} ${end}, ${unit}`}
      min={0}
      decimalScale={decimals}
      thousandSeparator
      hideControls
      value={values[end]}
      onChange={(value) => setValues({ ...values, [end]: value })}
      onBlur={isStacked ? apply : undefined}
    />
  );
  const fields = <RangeForm field={field} onApply={apply} size={size} hasButton={!isStacked} />;
  if (isStacked) return fields;
  return (
    <Popover opened={isOpen} onChange={setOpen} trapFocus position="bottom-start">
      <Popover.Target>
        <Button
          variant="default"
          size="xs"
          className="range-button"
          data-set={state.filters[from] !== undefined || state.filters[to] !== undefined || undefined}
          onClick={() => (isOpen ? setOpen(false) : open())}
        >
          {rangeText(label, shown(from), shown(to))}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>{fields}</Popover.Dropdown>
    </Popover>
  );
}

function rangeText(label: string, from: number | '', to: number | ''): string {
  if (from === '' && to === '') return label;
  if (from === '') return `${label} to ${formatNumber(Number(to))}`;
  if (to === '') return `${label} from ${formatNumber(from)}`;
  return `${label} ${formatNumber(from)} – ${formatNumber(to)}`;
}
