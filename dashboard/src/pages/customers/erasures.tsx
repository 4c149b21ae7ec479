import { Alert, Progress, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { formatNumber } from '../../format.ts';
import { Time } from '../../ui/time.tsx';
import { type Erasure, erasuresQuery } from './customer-queries.ts';

/** How far erasures are. It says nothing about the person: those who look at it must not learn who it was. */
export function Erasures() {
  const { data } = useQuery(erasuresQuery);
  return data?.data.map((erasure) =>
    erasure.is_done ? <Finished key={erasure.id} erasure={erasure} /> : <Running key={erasure.id} erasure={erasure} />,
  );
}

function Running({ erasure }: { erasure: Erasure }) {
  const { step, steps, looked_at: lookedAt, changed, error } = erasure;
  return (
    <Alert color="blue" mb="sm" role="status">
      <Text size="sm">
        A person is being erased: step {step} of {steps}. {formatNumber(lookedAt)} records searched,{' '}
        {formatNumber(changed)} changed.
      </Text>
      <Progress mt={6} value={(100 * (step - 1)) / steps} aria-label="Erasure of a person" />
      {error === null ? null : (
        <Text size="sm" mt={6}>
          {error} It is tried again by itself.
        </Text>
      )}
    </Alert>
  );
}

function Finished({ erasure }: { erasure: Erasure }) {
  const { looked_at: lookedAt, changed, finished_at: at } = erasure;
  return (
    <Text size="sm" c="dimmed" mb="sm" role="status">
      A person was erased {at === null ? null : <Time at={at} />}: {formatNumber(lookedAt)} records searched,{' '}
      {formatNumber(changed)} changed.
    </Text>
  );
}
