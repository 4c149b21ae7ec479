import { Button, Group, Progress, Stack, Table, Text } from '@mantine/core';
import { STOCK_JOB_STATUSES } from '../../../../src/contract/dashboard/stock/jobs.ts';
import { apiUrl } from '../../api/client.ts';
import { useOperation } from '../../api/queries.ts';
import { formatNumber } from '../../format.ts';
import { watchJob } from '../../shell/watched-jobs.ts';
import { DoubleClickGuard } from '../../ui/double-click-guard.tsx';
import { Status, type Tone } from '../../ui/status.tsx';
import type { Job, JobDetails } from './jobs-queries.ts';

const TONES: Record<Job['status'], Tone> = {
  queued: 'info',
  running: 'busy',
  done: 'good',
  cancelled: 'off',
  failed: 'bad',
};

export function JobStatus({ job }: { job: Job }) {
  return <Status tone={TONES[job.status]}>{STOCK_JOB_STATUSES[job.status]}</Status>;
}

export function JobProgress({ job }: { job: Job }) {
  const { done, total } = job;
  const share = total === null || total === 0 ? 0 : Math.min((100 * done) / total, 100);
  return (
    <Stack gap={4}>
      <Progress value={share} animated={job.status === 'running'} aria-label="Progress of the job" />
      <Text size="xs" c="dimmed">
        {total === null ? 'Waiting for its turn' : `${formatNumber(done)} of ${formatNumber(total)}`}
      </Text>
    </Stack>
  );
}

/** Cancel while it runs, undo afterwards. */
export function JobActions({ job }: { job: Job }) {
  const cancel = useOperation('POST /jobs/{job_id}/cancel', { success: 'Cancelled. What was done before stays.' });
  const undo = useOperation('POST /jobs/{job_id}/undo', { onSuccess: ({ job_id: id }) => watchJob(id) });
  const params = { job_id: job.id };
  return (
    <DoubleClickGuard shows={job.can_cancel ? 'cancel' : 'undo'}>
      {job.can_cancel ? (
        <Button variant="default" size="xs" loading={cancel.isPending} onClick={() => cancel.mutate({ params })}>
          Cancel
        </Button>
      ) : job.can_undo ? (
        <Button variant="default" size="xs" loading={undo.isPending} onClick={() => undo.mutate({ params })}>
          Undo
        </Button>
      ) : null}
    </DoubleClickGuard>
  );
}

/** The first errors of a job, and the way to all of them. */
export function JobErrors({ job, errors }: JobDetails) {
  if (errors.length === 0) return null;
  const hasLines = errors.some((error) => error.line !== null);
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <Text size="sm" fw={600}>
          {errors.length < job.error_count
            ? `The first ${formatNumber(errors.length)} of ${formatNumber(job.error_count)} notes`
            : `${formatNumber(errors.length)} ${errors.length === 1 ? 'note' : 'notes'}`}
        </Text>
        <Button
          variant="default"
          size="xs"
          component="a"
          href={apiUrl('GET /jobs/{job_id}/errors.csv', { params: { job_id: job.id } })}
          download
        >
          Download as CSV
        </Button>
      </Group>
      <Table.ScrollContainer minWidth={320}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              {hasLines ? <Table.Th>Line</Table.Th> : null}
              <Table.Th>Stock number</Table.Th>
              <Table.Th>Column</Table.Th>
              <Table.Th>What is wrong</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {errors.map((error) => (
              <Table.Tr key={`${error.line} ${error.item_id} ${error.field} ${error.message}`}>
                {hasLines ? <Table.Td>{error.line}</Table.Td> : null}
                <Table.Td>
                  <code>{error.stock_number}</code>
                </Table.Td>
                <Table.Td>{error.field?.replaceAll('_', ' ')}</Table.Td>
                <Table.Td>{error.message}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Stack>
  );
}
