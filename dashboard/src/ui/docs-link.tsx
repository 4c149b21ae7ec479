import { Anchor } from '@mantine/core';
import type { ReactNode } from 'react';
import { BASE_PATH } from '../api/client.ts';

/** A page of the developer documentation, which is outside the dashboard; `to` begins after `/docs/api`. */
export function DocsLink({ to = '', children }: { to?: string; children: ReactNode }) {
  return (
    <Anchor href={`${BASE_PATH}/docs/api${to}`} inherit>
      {children}
    </Anchor>
  );
}
