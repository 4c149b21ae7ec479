import { Button, Drawer, Group, Stack } from '@mantine/core';
import { formatCount } from '../../format.ts';
import { isFiltered } from '../list-state.ts';
import { ViewsMenu } from '../saved-views.tsx';
import { SortField, type ToolbarProps } from '../toolbar.tsx';
import { FilterFields } from './filters.tsx';

/** What a phone has no room for beside the rows: views, order and filters, from the bottom of the screen. */
export function FilterSheet<Row>(props: ToolbarProps<Row> & { isOpen: boolean; onClose: () => void }) {
  const { name, columns, filters = [], state, choice, count, isOpen, onClose } = props;
  return (
    <Drawer opened={isOpen} onClose={onClose} position="bottom" size="auto" title="Filter and order" className="sheet">
      <Stack gap="sm">
        <ViewsMenu list={name} state={state} columns={choice.stored} isStacked />
        <SortField columns={columns} state={state} isStacked />
        <FilterFields filters={filters} state={state} isStacked />
        <Group grow>
          <Button variant="default" size="md" disabled={!isFiltered(state)} onClick={state.clear}>
            Clear
          </Button>
          <Button size="md" onClick={onClose}>
            {count === undefined ? 'Show' : `Show ${formatCount(count)}`}
          </Button>
        </Group>
      </Stack>
    </Drawer>
  );
}
