import { Group, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { useBadgeTotal } from '../shell/badges.ts';

/** A page: its title (in the browser's tab, too) and its one primary action. */
export function Page({ title, action, children }: { title: string; action?: ReactNode; children: ReactNode }) {
  const total = useBadgeTotal();
  useEffect(() => {
    document.title = `${total === 0 ? '' : `(${total}) `}${title} · Crownwheel`;
  }, [title, total]);
  return (
    <div className="page">
      <Group justify="space-between" align="center" mb="md" wrap="nowrap">
        <Title order={1} size="h2">
          {title}
        </Title>
        {action}
      </Group>
      {children}
    </div>
  );
}
