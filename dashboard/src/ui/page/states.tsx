import { Button, Skeleton, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { ApiFailure } from '../../api/client.ts';
import { CopyId } from '../copy-id.tsx';

type EmptyStateProps = {
  title: string;
  children?: ReactNode;
  action?: ReactNode;
  /** It stands instead of a page, so its title is the page's. */
  isPage?: boolean;
};

/** Nothing there: what this is for, and the next step as a button or a command. */
export function EmptyState({ title, children, action, isPage = false }: EmptyStateProps) {
  return (
    <div className="empty-state">
      <Title order={isPage ? 1 : 2} size="h4">
        {title}
      </Title>
      {children === undefined ? null : <Text c="dimmed">{children}</Text>}
      {action}
    </div>
  );
}

type ErrorStateProps = {
  error: unknown;
  onRetry: () => void;
  /** Instead of Retry, where trying again can't help. */
  action?: ReactNode;
  /** It stands instead of a page, so its title is the page's. */
  isPage?: boolean;
};

/** What went wrong, what is safe, and what to do: with the request's id and a way to try again. */
export function ErrorState({ error, onRetry, action, isPage = false }: ErrorStateProps) {
  const failure = error instanceof ApiFailure ? error : null;
  return (
    <div className="empty-state" role="alert">
      <Title order={isPage ? 1 : 2} size="h4">
        {failure?.status === 404 ? 'That is not here.' : 'This could not be shown.'}
      </Title>
      <Text c="dimmed">{failure?.message ?? 'Something went wrong on this page. Nothing that was saved is lost.'}</Text>
      {failure?.requestId === undefined ? null : <CopyId id={failure.requestId} label="request id" />}
      {action ?? (
        <Button variant="default" onClick={onRetry}>
          Retry
        </Button>
      )}
    </div>
  );
}

/** The shape of a page that is on its way. */
export function PageSkeleton() {
  return (
    <Stack gap="md" aria-busy="true" aria-label="Loading">
      <Skeleton height={28} width={220} />
      <Skeleton height={36} />
      {Array.from({ length: 8 }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the bars are all alike and never move.
        <Skeleton key={index} height={32} />
      ))}
    </Stack>
  );
}
