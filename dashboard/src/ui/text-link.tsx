import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

/** A link within a sentence or a list of facts. */
export function TextLink({
  to,
  search,
  children,
}: {
  to: string;
  search?: Record<string, string>;
  children: ReactNode;
}) {
  return (
    <Anchor component={Link} to={to} search={search as never} inherit>
      {children}
    </Anchor>
  );
}
