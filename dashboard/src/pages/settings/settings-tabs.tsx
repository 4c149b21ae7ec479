import { Tabs } from '@mantine/core';
import { useLocation, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { paths } from '../../paths.ts';
import { Page } from '../../ui/page/page.tsx';

const TABS: { path: string; label: string }[] = [
  { path: paths.business(), label: 'Business' },
  { path: paths.locations(), label: 'Locations' },
  { path: paths.team(), label: 'Team' },
  { path: paths.account(), label: 'My account' },
];

/** The frame of all settings: each tab is a page with an address of its own. */
export function SettingsPage({ action, children }: { action?: ReactNode; children: ReactNode }) {
  const { pathname } = useLocation();
  const navigate = useNavigate();
  return (
    <Page title="Settings" action={action}>
      <Tabs value={pathname} onChange={(path) => path !== null && void navigate({ to: path })} keepMounted={false}>
        <Tabs.List mb="lg">
          {TABS.map(({ path, label }) => (
            <Tabs.Tab key={path} value={path}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={pathname}>{children}</Tabs.Panel>
      </Tabs>
    </Page>
  );
}
