import { Button, Popover, Select } from '@mantine/core';
import { useState } from 'react';
import { AMOUNT_LIMIT } from '../../../../src/contract/limits.ts';
import { DecimalInput, UNREADABLE } from '../../ui/fields/decimal-input.tsx';
import { formatDecimal } from '../../ui/fields/parse-decimal.ts';
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
  const shown = (name: string) => (state.filters[name] === undefined ? null : Number(state.filters[name]));
  const [values, setValues] = useState({ from: shown(from), to: shown(to) });
  const stored = (units: number | null) => (units === null ? '' : String(units));
  const apply = () => {
    if (values.from === UNREADABLE || values.to === UNREADABLE) return;
    state.setFilters({ [from]: stored(values.from), [to]: stored(values.to) });
    setOpen(false);
  };
  const open = () => {
    setValues({ from: shown(from), to: shown(to) });
    setOpen(true);
  };
  const size = isStacked ? 'md' : 'xs';
  const field = (end: RangeEnd) => (
    <DecimalInput
      size={size}
      label={`${label} ${end}, ${unit}`}
      decimals={decimals}
      max={AMOUNT_LIMIT}
      units={values[end]}
      onChange={(units) => setValues({ ...values, [end]: units })}
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
          {rangeText(filter, shown(from), shown(to))}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>{fields}</Popover.Dropdown>
    </Popover>
  );
}

function rangeText({ label, decimals }: RangeFilter, from: number | null, to: number | null): string {
  const text = (units: number) => formatDecimal(units, decimals);
  if (from === null) return to === null ? label : `${label} to ${text(to)}`;
  return to === null ? `${label} from ${text(from)}` : `${label} ${text(from)} – ${text(to)}`;
}
