import { AppShell, Burger, Group, Kbd, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { spotlight } from '@mantine/spotlight';
import { Outlet } from '@tanstack/react-router';
import { Suspense } from 'react';
import { useLive } from '../api/live.ts';
import { Icon } from '../ui/icons.tsx';
import { Mark } from '../ui/mark.tsx';
import { PageSkeleton } from '../ui/states.tsx';
import { AccountMenu } from './account-menu.tsx';
import { ColorSchemeSwitch } from './color-scheme-switch.tsx';
import { ConnectionBanner } from './connection-banner.tsx';
import { JobToasts } from './job-toasts.tsx';
import { NavigationList, NavigationTabs } from './navigation-list.tsx';
import { Palette } from './palette.tsx';
import { SessionEndedDialog } from './session-ended-dialog.tsx';
import { Shortcuts } from './shortcuts.tsx';
import { TestDataBanner } from './test-data-banner.tsx';
import { TestModeBanner } from './test-mode-banner.tsx';

/** The frame: navigation, palette, shortcuts and the live stream around the page that is open. */
export function Shell() {
  const { isLost } = useLive();
  const [isMenuOpen, menu] = useDisclosure(false);
  return (
    <AppShell
      header={{ height: 52 }}
      navbar={{ width: 212, breakpoint: 'sm', collapsed: { mobile: !isMenuOpen } }}
      footer={{ height: { base: 56, sm: 0 } }}
      padding={{ base: 'md', sm: 'lg' }}
    >
      <a className="skip" href="#page">
        Skip to the page
      </a>
      <AppShell.Header className="header">
        <Group gap="xs" wrap="nowrap">
          <Burger opened={isMenuOpen} onClick={menu.toggle} hiddenFrom="sm" size="sm" aria-label="Menu" />
          <Mark />
        </Group>
        <Group gap="xs" wrap="nowrap">
          <UnstyledButton className="palette-button" onClick={spotlight.open}>
            <Icon name="search" size={16} />
            <span>Search</span>
            <Kbd size="xs">Ctrl K</Kbd>
          </UnstyledButton>
          <ColorSchemeSwitch />
          <AccountMenu />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar className="navbar">
        <NavigationList onNavigate={menu.close} />
      </AppShell.Navbar>
      <AppShell.Main id="page" tabIndex={-1}>
        <ConnectionBanner isLost={isLost} />
        <TestModeBanner />
        <TestDataBanner />
        <Suspense fallback={<PageSkeleton />}>
          <Outlet />
        </Suspense>
      </AppShell.Main>
      <AppShell.Footer hiddenFrom="sm" className="tabs">
        <NavigationTabs />
      </AppShell.Footer>
      <JobToasts />
      <Palette />
      <Shortcuts />
      <SessionEndedDialog />
    </AppShell>
  );
}
