import { ActionIcon, Button, Checkbox, Group, Menu, Select, Text, TextInput, Tooltip } from '@mantine/core';
import { useDebouncedCallback, useDisclosure } from '@mantine/hooks';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { formatCount } from '../format.ts';
import { isTyping } from '../shell/navigation/shortcuts.tsx';
import { Icon } from '../ui/icons.tsx';
import type { ColumnChoice } from './column-choice.ts';
import type { Column } from './columns.ts';
import { FilterSheet } from './filters/filter-sheet.tsx';
import { type Filter, FilterFields } from './filters/filters.tsx';
import { isFiltered, type ListState, type ListStateSetters } from './list-state.ts';
import { type ListName, ViewsMenu } from './saved-views.tsx';
import type { Selection } from './selection.ts';

export type { Filter } from './filters/filters.tsx';

const TYPING_PAUSE_MS = 250;

export type ToolbarProps<Row> = {
  name: ListName;
  columns: readonly Column<Row>[];
  filters?: readonly Filter[];
  state: ListState & ListStateSetters;
  searchLabel: string;
  objectName?: string | null | undefined;
  choice: ColumnChoice;
  count: { value: number; is_capped: boolean } | undefined;
  card?: (row: Row) => ReactNode;
  isPhone: boolean;
  /** There is nothing to search in. */
  isPlain: boolean;
  selection: Selection | null;
};

export function Toolbar<Row>(props: ToolbarProps<Row>) {
  if (props.isPlain) return null;
  return props.isPhone ? <PhoneToolbar {...props} /> : <DesktopToolbar {...props} />;
}

function DesktopToolbar<Row>(props: ToolbarProps<Row>) {
  const { name, columns, filters = [], state, choice, count, card } = props;
  const isCards = card !== undefined && state.layout === 'cards';
  return (
    <Group gap="xs" mb="xs">
      <ViewsMenu list={name} state={state} columns={choice.stored} />
      <SearchField label={props.searchLabel} state={state} />
      <FilterFields filters={filters} state={state} />
      <ObjectFilter {...props} />
      {isFiltered(state) ? (
        <Button variant="subtle" size="xs" onClick={state.clear}>
          Clear
        </Button>
      ) : null}
      <Group gap="xs" ml="auto" wrap="nowrap">
        <Count count={count} />
        {isCards ? <SortField columns={columns} state={state} /> : null}
        {card === undefined ? null : <LayoutSwitch state={state} />}
        {isCards ? null : <ColumnMenu columns={columns} choice={choice} />}
      </Group>
    </Group>
  );
}

/** Search stays in reach; everything else is in a sheet that opens under the thumb. */
function PhoneToolbar<Row>(props: ToolbarProps<Row>) {
  const { state, count, selection, card } = props;
  const [isOpen, sheet] = useDisclosure(false);
  const filterCount = Object.keys(state.filters).length;
  return (
    <div className="phone-toolbar">
      <Group gap="xs" wrap="nowrap">
        <SearchField label={props.searchLabel} state={state} isLarge />
        <Button
          variant="default"
          size="md"
          px="sm"
          flex="none"
          onClick={sheet.open}
          leftSection={<Icon name="filter" size={16} />}
        >
          {filterCount === 0 ? 'Filter' : `Filter · ${filterCount}`}
        </Button>
      </Group>
      <Group gap="xs" justify="space-between" mih={36}>
        <Count count={count} />
        <ObjectFilter {...props} />
        <Group gap="xs">
          {selection === null ? null : (
            <Button
              variant="subtle"
              size="xs"
              onClick={() => (selection.isSelecting ? selection.clear() : selection.setSelecting(true))}
            >
              {selection.isSelecting ? 'Done' : 'Select'}
            </Button>
          )}
          {card === undefined ? null : <LayoutSwitch state={state} />}
        </Group>
      </Group>
      <FilterSheet {...props} isOpen={isOpen} onClose={sheet.close} />
    </div>
  );
}

/** A filter that only a link can set: it says what the list is narrowed to, and can be taken away. */
function ObjectFilter<Row>({ state, objectName }: ToolbarProps<Row>) {
  const { object_id: id } = state.filters;
  if (id === undefined) return null;
  const text = `Only ${objectName ?? id}`;
  return (
    <Button
      variant="default"
      size="xs"
      maw={280}
      aria-label={`${text}: show all again`}
      rightSection={<Icon name="close" size={12} />}
      onClick={() => state.setFilter('object_id', '')}
    >
      {text}
    </Button>
  );
}

function Count({ count }: { count: { value: number; is_capped: boolean } | undefined }) {
  if (count === undefined) return <span />;
  return (
    <Text size="sm" c="dimmed" role="status">
      {formatCount(count)} {count.value === 1 && !count.is_capped ? 'row' : 'rows'}
    </Text>
  );
}

/** The order of a list where no header shows it: on a phone and of cards. */
export function SortField<Row>(props: {
  columns: readonly Column<Row>[];
  state: ListState & ListStateSetters;
  isStacked?: boolean;
}) {
  const { columns, state, isStacked = false } = props;
  const sortable = columns.filter((column) => column.isSortable);
  if (sortable.length === 0) return null;
  const data = sortable.flatMap(({ id, header }) => [
    { value: id, label: `${header} ↑` },
    { value: `-${id}`, label: `${header} ↓` },
  ]);
  return (
    <Select
      size={isStacked ? 'md' : 'xs'}
      w={isStacked ? '100%' : 160}
      label={isStacked ? 'Order' : undefined}
      aria-label="Order"
      placeholder="Order"
      data={data}
      value={state.sort === '' ? null : state.sort}
      clearable
      clearButtonProps={{ 'aria-label': 'Clear the order' }}
      onChange={(value) => state.setSort(value ?? '')}
    />
  );
}

function LayoutSwitch({ state }: { state: ListState & ListStateSetters }) {
  const isCards = state.layout === 'cards';
  const label = isCards ? 'Show as a table' : 'Show as cards';
  return (
    <Tooltip label={label}>
      <ActionIcon
        variant="default"
        size={30}
        aria-label={label}
        onClick={() => state.setLayout(isCards ? 'table' : 'cards')}
      >
        <Icon name={isCards ? 'menu' : 'cards'} size={16} />
      </ActionIcon>
    </Tooltip>
  );
}

function ColumnMenu<Row>({ columns, choice }: { columns: readonly Column<Row>[]; choice: ColumnChoice }) {
  return (
    <Menu closeOnItemClick={false} position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="default" size={30} aria-label="Choose columns">
          <Icon name="columns" size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {columns.map(({ id, header }) => (
          <Menu.Item key={id} onClick={() => choice.toggle(id)}>
            <Checkbox size="xs" label={header} checked={choice.visibility[id] === true} readOnly tabIndex={-1} />
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item disabled={choice.stored.length === 0} onClick={choice.reset}>
          Back to the usual columns
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

type SearchFieldProps = { label: string; state: ListState & ListStateSetters; isLarge?: boolean };

/** Searches a moment after the last letter; "/" leads here from anywhere. */
function SearchField({ label, state, isLarge = false }: SearchFieldProps) {
  const [text, setText] = useState(state.q);
  const field = useRef<HTMLInputElement>(null);
  const search = useDebouncedCallback(state.setSearch, TYPING_PAUSE_MS);
  // What was typed is ahead of the address; only a change that came from elsewhere, such as Back, goes into the field.
  const typed = useRef(state.q);
  useEffect(() => {
    if (state.q !== typed.current) setText(state.q);
    typed.current = state.q;
  }, [state.q]);
  useEffect(() => {
    function onKey(event: KeyboardEvent): void {
      if (event.key !== '/' || isTyping(event.target)) return;
      event.preventDefault();
      field.current?.focus();
    }
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
  return (
    <TextInput
      ref={field}
      size={isLarge ? 'md' : 'xs'}
      w={isLarge ? '100%' : 240}
      type="search"
      aria-label={label}
      placeholder={label}
      leftSection={<Icon name="search" size={14} />}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
        typed.current = event.currentTarget.value.trim();
        search(typed.current);
      }}
      onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
    />
  );
}
