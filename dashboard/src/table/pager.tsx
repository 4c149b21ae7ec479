import { Button, Group } from '@mantine/core';
import type { ListPage } from './list-page.ts';
import type { ListStateSetters } from './list-state.ts';

export function Pager<Row>({ page, state }: { page: ListPage<Row>; state: ListStateSetters }) {
  const { next_cursor: next, previous_cursor: previous } = page;
  if (next === null && previous === null) return null;
  return (
    <Group component="nav" aria-label="Pages of the list" justify="flex-end" mt="sm" gap="xs">
      <Button variant="default" size="xs" disabled={previous === null} onClick={() => state.setPage(null)}>
        First
      </Button>
      <Button
        variant="default"
        size="xs"
        disabled={previous === null}
        onClick={() => previous !== null && state.setPage({ before: previous })}
      >
        Previous
      </Button>
      <Button
        variant="default"
        size="xs"
        disabled={next === null}
        onClick={() => next !== null && state.setPage({ after: next })}
      >
        Next
      </Button>
    </Group>
  );
}
