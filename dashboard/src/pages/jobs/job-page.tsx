import { Alert, Group, Stack, Text } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { formatTime } from '../../format.ts';
import { paths } from '../../paths.ts';
import { CopyId } from '../../ui/copy-id.tsx';
import { Page } from '../../ui/page/page.tsx';
import { Time } from '../../ui/time.tsx';
import { countsText } from './job-counts.ts';
import { JobActions, JobErrors, JobProgress, JobStatus } from './job-parts.tsx';
import { type Job, jobQuery } from './jobs-queries.ts';

/** One job: how far it is, what became of it, and what it could not do. */
export function JobPage() {
  const { id } = useParams({ strict: false }) as { id: string };
  const { job, errors } = useSuspenseQuery(jobQuery(id)).data;
  return (
    <Page title={job.title} action={<JobActions job={job} />}>
      <Stack maw={900} gap="md">
        <Group gap="md">
          <JobStatus job={job} />
          <Text size="sm" c="dimmed">
            {job.asked_by ?? 'Somebody who left'}, <Time at={job.created_at} />
          </Text>
          <CopyId id={job.id} label="job id" />
        </Group>
        {job.can_cancel ? <JobProgress job={job} /> : <Text>{countsText(job)}</Text>}
        {job.error === null ? null : (
          <Alert color={job.status === 'failed' ? 'ruby' : 'brass'} title="What went wrong">
            {job.error}
          </Alert>
        )}
        <UndoNote job={job} />
        <JobErrors job={job} errors={errors} />
      </Stack>
    </Page>
  );
}

function UndoNote({ job }: { job: Job }) {
  if (job.undoes !== null) {
    return (
      <Text size="sm">
        Takes back <Link to={paths.job(job.undoes)}>an earlier job</Link>. What changed since was left as it is.
      </Text>
    );
  }
  if (job.undone_by !== null) {
    return (
      <Text size="sm">
        Was taken back by <Link to={paths.job(job.undone_by)}>another job</Link>.
      </Text>
    );
  }
  if (job.undo_refusal !== null) {
    return (
      <Text size="sm" c="dimmed">
        {job.undo_refusal}
      </Text>
    );
  }
  if (!job.can_undo || job.undo_until === null) return null;
  return (
    <Text size="sm" c="dimmed">
      Can be undone until {formatTime(job.undo_until)}. What changes until then is left as it is.
    </Text>
  );
}
