import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { NAVIGATION } from '../../shell/navigation/navigation.ts';

type PageLinkProps = { to: string; area: string; children: ReactNode };

/** A link into an area of the dashboard, or the bare text while the navigation has no such area. */
export function PageLink({ to, area, children }: PageLinkProps) {
  if (!NAVIGATION.some(({ path }) => path === area)) return <>{children}</>;
  return (
    <Anchor component={Link} to={to} inherit>
      {children}
    </Anchor>
  );
}
