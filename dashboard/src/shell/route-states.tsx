import { Anchor } from '@mantine/core';
import { Link, useRouter } from '@tanstack/react-router';
import { paths } from '../paths.ts';
import { EmptyState, ErrorState } from '../ui/page/states.tsx';

/** A fault while a page was loaded or drawn: the rest of the dashboard goes on. */
export function RouteError({ error, reset }: { error: unknown; reset: () => void }) {
  const router = useRouter();
  const retry = () => {
    reset();
    void router.invalidate();
  };
  return <ErrorState error={error} onRetry={retry} />;
}

export function RouteMissing() {
  return (
    <EmptyState
      title="This page is not here."
      action={<Anchor renderRoot={(props) => <Link to={paths.home()} {...props} />}>Go to the home page</Anchor>}
    >
      The address may be old or mistyped.
    </EmptyState>
  );
}
