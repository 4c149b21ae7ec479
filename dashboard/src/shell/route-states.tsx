import { Anchor } from '@mantine/core';
import { Link, useLocation, useRouter } from '@tanstack/react-router';
import { ApiFailure } from '../api/client.ts';
import { paths } from '../paths.ts';
import { Page } from '../ui/page/page.tsx';
import { EmptyState, ErrorState } from '../ui/page/states.tsx';
import { NAVIGATION } from './navigation/navigation.ts';

/** A fault while a page was loaded or drawn: the rest of the dashboard goes on. */
export function RouteError({ error, reset }: { error: unknown; reset: () => void }) {
  const router = useRouter();
  const retry = () => {
    reset();
    void router.invalidate();
  };
  const isMissing = error instanceof ApiFailure && error.status === 404;
  return <ErrorState isPage error={error} onRetry={retry} action={isMissing ? <ListLink /> : undefined} />;
}

/** From something that is not there to the list that it would be in. */
function ListLink() {
  const { pathname } = useLocation();
  const list = NAVIGATION.find(({ path }) => pathname.startsWith(`${path}/`));
  return (
    <Anchor component={Link} to={list?.path ?? paths.home()}>
      Go to {list?.label ?? 'the home page'}
    </Anchor>
  );
}

/** An address without a page, for somebody who is signed in. */
export function PageMissing() {
  return (
    <Page title="Not found">
      <Missing isPage={false} />
    </Page>
  );
}

/** An address without a page, where there is no frame around it. */
export function RouteMissing() {
  return <Missing isPage />;
}

function Missing({ isPage }: { isPage: boolean }) {
  return (
    <EmptyState
      isPage={isPage}
      title="This page is not here."
      action={<Anchor renderRoot={(props) => <Link to={paths.home()} {...props} />}>Go to the home page</Anchor>}
    >
      The address may be old or mistyped.
    </EmptyState>
  );
}
