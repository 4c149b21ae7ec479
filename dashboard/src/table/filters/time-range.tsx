import { Popover, Select } from '@mantine/core';
import { useState } from 'react';
import { formatTime } from '../../format.ts';
import { DateTimeInput } from '../../ui/fields/date-time-input.tsx';
import type { ListState, ListStateSetters } from '../list-state.ts';
import { type RangeEnd, RangeForm } from './range-form.tsx';

/** A period that ends now, or two ends of one's own; kept in the address under these names. */
export type TimeRangeFilter = {
  label: string;
  period: string;
  from: string;
  to: string;
  periods: readonly { value: string; label: string }[];
};

type TimeRangeFieldProps = { filter: TimeRangeFilter; state: ListState & ListStateSetters; isStacked: boolean };

const CUSTOM = 'custom';

/** Times are typed and shown in the time zone of the browser, as everywhere in lists. */
export function TimeRangeField({ filter, state, isStacked }: TimeRangeFieldProps) {
  const { label, period, from, to, periods } = filter;
  const [isOpen, setOpen] = useState(false);
  const given = { from: state.filters[from] ?? '', to: state.filters[to] ?? '' };
  const [values, setValues] = useState(given);
  const isCustom = given.from !== '' || given.to !== '';
  const apply = () => {
    state.setFilters({ [period]: '', [from]: values.from, [to]: values.to });
    setOpen(false);
  };
  const choose = (value: string | null) => {
    if (value !== CUSTOM) return state.setFilters({ [period]: value ?? '', [from]: '', [to]: '' });
    setValues(given);
    setOpen(true);
  };
  const size = isStacked ? 'md' : 'xs';
  const field = (end: RangeEnd) => (
    <DateTimeInput
      size={size}
      label={`${label} ${end}`}
      value={localOf(values[end])}
      onChange={(local) => setValues({ ...values, [end]: instantOf(local ?? '') })}
    />
  );
  return (
    <Popover
      withRoles={false}
      opened={isOpen}
      onChange={setOpen}
      trapFocus
      position="bottom-start"
      withinPortal={!isStacked}
    >
      <Popover.Target>
        <Select
          size={size}
          w={isStacked ? '100%' : isCustom ? 260 : 140}
          label={isStacked ? label : undefined}
          placeholder={isStacked ? 'Any' : label}
          aria-label={label}
          data={[...periods, { value: CUSTOM, label: isCustom ? rangeText(given) : 'From … to …' }]}
          value={isCustom ? CUSTOM : (state.filters[period] ?? null)}
          clearable
          allowDeselect={false}
          clearButtonProps={{ 'aria-label': `Clear ${label}` }}
          comboboxProps={{ width: 'max-content', position: 'bottom-start' }}
          onChange={choose}
          onOptionSubmit={(value) => value === CUSTOM && choose(value)}
        />
      </Popover.Target>
      <Popover.Dropdown role="dialog" aria-label={`${label} range`}>
        <RangeForm field={field} onApply={apply} size={size} />
      </Popover.Dropdown>
    </Popover>
  );
}

function rangeText({ from, to }: { from: string; to: string }): string {
  if (from === '') return `Until ${formatTime(to)}`;
  return to === '' ? `From ${formatTime(from)}` : `${formatTime(from)} – ${formatTime(to)}`;
}

const MINUTE_MS = 60_000;

/** What a field of the browser takes: the local time, without its zone. */
function localOf(instant: string): string {
  const at = new Date(instant);
  if (instant === '' || Number.isNaN(at.getTime())) return '';
  return new Date(at.getTime() - at.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 'yyyy-mm-ddThh:mm'.length);
}

function instantOf(local: string): string {
  const at = new Date(local);
  return local === '' || Number.isNaN(at.getTime()) ? '' : at.toISOString();
}
