import { Group, Progress, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { BASE_PATH, type Output } from '../api/client.ts';
import { read, useOperation } from '../api/queries.ts';
import { formatNumber } from '../format.ts';
import { countsText } from '../pages/jobs/job-counts.ts';
import { paths } from '../paths.ts';

type Job = Output<'GET /jobs/{job_id}'>['job'];

/** Long enough to read the result and to take it back; the list of jobs offers the same for as long as it can be undone. */
const DONE_SHOWN_MS = 15_000;

/** Shows a job that was just started, whatever page is open: its progress with Cancel, then its result with Undo. */
export function toastJob(jobId: string): void {
  notifications.show({
    id: jobId,
    autoClose: false,
    withCloseButton: true,
    closeButtonProps: { 'aria-label': 'Close' },
    color: 'steel',
    message: <JobProgress jobId={jobId} />,
  });
}

function JobProgress({ jobId }: { jobId: string }) {
  const { data } = useQuery(read('GET /jobs/{job_id}', { params: { job_id: jobId } }, ['job']));
  const job = data?.job;
  const cancel = useOperation('POST /jobs/{job_id}/cancel');
  const undo = useOperation('POST /jobs/{job_id}/undo', {
    onSuccess({ job_id: undoId }) {
      notifications.hide(jobId);
      toastJob(undoId);
    },
  });
  const isOver = job !== undefined && job.finished_at !== null;
  useEffect(() => {
    if (!isOver) return;
    const timer = setTimeout(() => notifications.hide(jobId), DONE_SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isOver, jobId]);
  if (job === undefined) return 'Starting';
  const params = { job_id: jobId };
  return (
    <Stack gap={6} role="status">
      <Text size="sm" fw={600}>
        {job.title}
      </Text>
      {isOver ? null : (
        <Progress value={percentOf(job)} animated={job.total === null} aria-label={`Progress of ${job.title}`} />
      )}
      <Group justify="space-between" wrap="nowrap" gap="md">
        <Text size="sm">
          {isOver ? resultOf(job) : progressOf(job)}{' '}
          <a className="small-link" href={`${BASE_PATH}${paths.job(jobId)}`}>
            Details
          </a>
        </Text>
        {job.can_cancel ? (
          <button type="button" className="text-button" onClick={() => cancel.mutate({ params })}>
            Cancel
          </button>
        ) : job.can_undo ? (
          <button type="button" className="text-button" onClick={() => undo.mutate({ params })}>
            Undo
          </button>
        ) : null}
      </Group>
    </Stack>
  );
}

function percentOf({ done, total }: Job): number {
  return total === null || total === 0 ? 0 : (done / total) * 100;
}

function progressOf({ status, done, total }: Job): string {
  if (status === 'queued') return 'Waiting';
  return total === null ? formatNumber(done) : `${formatNumber(done)} of ${formatNumber(total)}`;
}

function resultOf(job: Job): string {
  if (job.status === 'failed') return job.error ?? 'It failed.';
  const result = countsText(job);
  return job.status === 'cancelled' ? `Cancelled: ${result}.` : `${result}.`;
}
