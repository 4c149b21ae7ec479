import { Group, Progress, Stack, Text, Title } from '@mantine/core';
import { formatNumber } from '../../../format.ts';
import { Status } from '../../../ui/status.tsx';
import { Time } from '../../../ui/time.tsx';
import type { Integration } from '../integration-queries.ts';

const WORDS = { pending: 'Waiting', running: 'Running', done: 'Done' } as const;
const TONES = { pending: 'info', running: 'busy', done: 'good' } as const;

/** Mass changes of this channel, the newest first, with their progress. */
export function Jobs({ jobs }: { jobs: Integration['jobs'] }) {
  if (jobs.length === 0) return null;
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">
        Jobs
      </Title>
      {jobs.map((job) => (
        <Stack key={job.id} gap={4}>
          <Group gap="sm">
            <Status tone={TONES[job.status]}>{WORDS[job.status]}</Status>
            <Text size="sm">
              {formatNumber(job.done)} of {formatNumber(job.total)} items
            </Text>
            <Text size="xs" c="dimmed">
              <Time at={job.created_at} />
            </Text>
          </Group>
          {job.status === 'done' ? null : (
            <Progress value={job.total === 0 ? 0 : (100 * job.done) / job.total} aria-label="Progress of the job" />
          )}
          {job.error === null ? null : <Text size="sm">{job.error} It is tried again by itself.</Text>}
        </Stack>
      ))}
    </Stack>
  );
}
