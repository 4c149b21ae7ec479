import { Anchor, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { ApiFailure, api } from '../api/client.ts';
import { countsText } from '../pages/jobs/job-counts.ts';
import { type Job, jobQuery } from '../pages/jobs/jobs-queries.ts';
import { toastError } from '../ui/feedback/toasts.ts';
import { unwatchJob, useWatchedJobs, watchJob } from './watched-jobs.ts';

const SHOWN_MS = 20_000;

/** Says when a job that this tab asked for has ended, with Undo where that is possible. */
export function JobToasts() {
  const ids = useWatchedJobs();
  return ids.map((id) => <JobToast key={id} id={id} />);
}

function JobToast({ id }: { id: string }) {
  const { data, isError } = useQuery(jobQuery(id));
  const job = data?.job;
  useEffect(() => {
    if (isError) unwatchJob(id);
    if (job === undefined || job.can_cancel) return;
    unwatchJob(id);
    show(job);
  }, [id, job, isError]);
  return null;
}

function show(job: Job): void {
  const isGood = job.status === 'done';
  notifications.show({
    id: job.id,
    title: job.title,
    message: <Message job={job} />,
    color: isGood ? 'jade' : job.status === 'failed' ? 'ruby' : 'brass',
    autoClose: SHOWN_MS,
  });
}

function Message({ job }: { job: Job }) {
  return (
    <Group justify="space-between" wrap="nowrap">
      <Text size="sm">{job.status === 'failed' ? job.error : `${job.status}: ${countsText(job)}`}</Text>
      {job.can_undo ? (
        <Anchor component="button" type="button" size="sm" fw={600} onClick={() => void undo(job.id)}>
          Undo
        </Anchor>
      ) : null}
    </Group>
  );
}

async function undo(id: string): Promise<void> {
  notifications.hide(id);
  try {
    const started = await api('POST /jobs/{job_id}/undo', { params: { job_id: id } });
    watchJob(started.job_id);
  } catch (error) {
    if (error instanceof ApiFailure) toastError(error);
    else throw error;
  }
}
