import { Button, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { STOCK_JOB_KINDS, STOCK_JOB_STATUSES } from '../../../../src/contract/dashboard/stock/jobs.ts';
import { paths } from '../../paths.ts';
import type { Column } from '../../table/columns.ts';
import { DataTable } from '../../table/data-table.tsx';
import { optionsOf } from '../../table/filters/filter-choices.ts';
import { useListPage } from '../../table/list-page.ts';
import { Page } from '../../ui/page/page.tsx';
import { EmptyState } from '../../ui/page/states.tsx';
import { Time } from '../../ui/time.tsx';
import { countsText } from './job-counts.ts';
import { JobActions, JobProgress, JobStatus } from './job-parts.tsx';
import { type Job, jobsQuery } from './jobs-queries.ts';

const FILTERS = [
  { name: 'kind', label: 'Kind', options: optionsOf(STOCK_JOB_KINDS) },
  { name: 'status', label: 'Status', options: optionsOf(STOCK_JOB_STATUSES) },
];
const FILTER_NAMES = FILTERS.map(({ name }) => name);

/** Bulk changes, imports and their undo: how far they are, and what became of them. */
export function JobsPage() {
  const { state, list } = useListPage(FILTER_NAMES, jobsQuery);
  return (
    <Page
      title="Jobs"
      action={<Button renderRoot={(props) => <Link {...props} to={paths.import()} />}>Import stock</Button>}
    >
      <DataTable
        name="Jobs"
        columns={COLUMNS}
        filters={FILTERS}
        state={state}
        list={list}
        idOf={({ id }) => id}
        pathOf={({ id }) => paths.job(id)}
        searchLabel="Search jobs"
        empty={
          <EmptyState title="No jobs yet.">Imports and changes of many items appear here, with their undo.</EmptyState>
        }
      />
    </Page>
  );
}

const COLUMNS: Column<Job>[] = [
  {
    id: 'title',
    header: 'Job',
    cell: (job) => (
      <div className="item-name">
        <Text size="sm" fw={600} truncate>
          {job.title}
        </Text>
        <Text size="xs" c="dimmed">
          {job.asked_by ?? 'Somebody who left'}
        </Text>
      </div>
    ),
  },
  { id: 'status', header: 'Status', width: 120, cell: (job) => <JobStatus job={job} /> },
  { id: 'result', header: 'Result', cell: (job) => <ResultCell job={job} /> },
  { id: 'created', header: 'Started', width: 130, cell: (job) => <Time at={job.created_at} /> },
  { id: 'actions', header: 'Actions', width: 110, phone: 'corner', cell: (job) => <JobActions job={job} /> },
];

function ResultCell({ job }: { job: Job }) {
  if (job.can_cancel) return <JobProgress job={job} />;
  return (
    <>
      <Text size="sm">{countsText(job)}</Text>
      {job.undone_by === null ? null : (
        <Text size="xs" c="dimmed">
          Was undone
        </Text>
      )}
    </>
  );
}
