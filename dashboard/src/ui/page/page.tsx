import { Group, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { useBadgeTotal } from '../../shell/navigation/badges.ts';

type PageProps = {
  title: string;
  action?: ReactNode;
  /** A long form keeps its title and its Save in sight. */
  hasStickyHeader?: boolean;
  children: ReactNode;
};

/** A page: its title (in the browser's tab, too) and its one primary action. */
export function Page({ title, action, hasStickyHeader = false, children }: PageProps) {
  const total = useBadgeTotal();
  useEffect(() => {
    document.title = `${total === 0 ? '' : `(${total}) `}${title} · Crownwheel`;
  }, [title, total]);
  return (
    <div className="page">
      <Group
        className="page-header"
        data-sticky={hasStickyHeader || undefined}
        justify="space-between"
        align="center"
        mb="md"
        wrap="nowrap"
      >
        <Title order={1} size="h2">
          {title}
        </Title>
        {action}
      </Group>
      {children}
    </div>
  );
}
