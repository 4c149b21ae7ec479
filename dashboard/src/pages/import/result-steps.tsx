import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useOperation } from '../../api/queries.ts';
import { formatNumber } from '../../format.ts';
import { paths } from '../../paths.ts';
import { watchJob } from '../../shell/watched-jobs.ts';
import { DoubleClickGuard } from '../../ui/double-click-guard.tsx';
import { countsText } from '../jobs/job-counts.ts';
import { JobActions, JobErrors, JobProgress, JobStatus } from '../jobs/job-parts.tsx';
import { type Job, jobQuery } from '../jobs/jobs-queries.ts';
import { importQuery } from './import-queries.ts';

type CheckStepProps = { fileId: string; jobId: string; onStarted: (jobId: string) => void; onBack: () => void };

/** What would become of every line. Nothing has changed yet. */
export function CheckStep({ fileId, jobId, onStarted, onBack }: CheckStepProps) {
  const { job, errors } = useSuspenseQuery(jobQuery(jobId)).data;
  const { data: file } = useSuspenseQuery(importQuery(fileId));
  const start = useOperation('POST /imports/{file_id}/run', {
    onSuccess({ job_id: id }) {
      watchJob(id);
      onStarted(id);
    },
  });
  // The service has remembered the columns that were checked.
  const mapping = file.mapping;
  const { created = 0, changed = 0, wrong = 0 } = job.counts;
  const valid = (job.total ?? 0) - wrong;
  if (job.can_cancel) return <Running job={job} title="Checking all lines. Nothing is changed." />;
  return (
    <Stack>
      <Failure job={job} />
      <Text>
        {job.status === 'done' ? 'All lines are checked, nothing is changed yet: ' : 'The check was ended: '}
        <strong>{countsText(job)}</strong>.
      </Text>
      <JobErrors job={job} errors={errors} />
      <Group justify="flex-end">
        <DoubleClickGuard>
          <Button variant="default" onClick={onBack}>
            Back to the columns
          </Button>
          <Button
            loading={start.isPending}
            disabled={job.status !== 'done' || created + changed === 0}
            onClick={() => start.mutate({ params: { file_id: fileId }, body: { mapping } })}
          >
            Import {formatNumber(valid)} {wrong > 0 ? 'valid ' : ''}
            {valid === 1 ? 'line' : 'lines'}
          </Button>
        </DoubleClickGuard>
      </Group>
    </Stack>
  );
}

/** The import itself: progress, then its result with the way back. */
export function ResultStep({ jobId, onAnother }: { jobId: string; onAnother: () => void }) {
  const { job, errors } = useSuspenseQuery(jobQuery(jobId)).data;
  if (job.can_cancel) return <Running job={job} title="Importing. You can leave this page." />;
  return (
    <Stack>
      <Failure job={job} />
      <Group gap="md">
        <JobStatus job={job} />
        <Text>{countsText(job)}</Text>
        {job.undone_by === null ? null : (
          <Text size="sm" c="dimmed">
            <Link to={paths.job(job.undone_by)}>Undone</Link>
          </Text>
        )}
      </Group>
      <JobErrors job={job} errors={errors} />
      <Group justify="flex-end">
        <JobActions job={job} />
        <DoubleClickGuard>
          <Button variant="default" size="xs" onClick={onAnother}>
            Import another file
          </Button>
        </DoubleClickGuard>
      </Group>
    </Stack>
  );
}

function Running({ job, title }: { job: Job; title: string }) {
  return (
    <Stack>
      <Group justify="space-between">
        <Text>{title}</Text>
        <JobActions job={job} />
      </Group>
      <JobProgress job={job} />
      {job.error === null ? null : <Text size="sm">{job.error}</Text>}
    </Stack>
  );
}

function Failure({ job }: { job: Job }) {
  if (job.status !== 'failed') return null;
  return (
    <Alert color="ruby" title="This could not be finished">
      {job.error}
    </Alert>
  );
}
