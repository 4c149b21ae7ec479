import { AppShell, Burger, Group, Kbd, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { spotlight } from '@mantine/spotlight';
import { Outlet } from '@tanstack/react-router';
import { Suspense } from 'react';
import { useLive } from '../api/live.ts';
import { Icon } from '../ui/icons.tsx';
import { Mark } from '../ui/mark.tsx';
import { PageSkeleton } from '../ui/page/states.tsx';
import { ConnectionBanner } from './banners/connection-banner.tsx';
import { TestDataBanner } from './banners/test-data-banner.tsx';
import { TestModeBanner } from './banners/test-mode-banner.tsx';
import { ColorSchemeSwitch } from './color-scheme-switch.tsx';
import { JobToasts } from './job-toasts.tsx';
import { NavigationList, NavigationTabs } from './navigation/navigation-list.tsx';
import { Palette } from './navigation/palette.tsx';
import { Shortcuts } from './navigation/shortcuts.tsx';
import { useRecover } from './recover.ts';
import { AccountMenu } from './session/account-menu.tsx';
import { SessionEndedDialog } from './session/session-ended-dialog.tsx';

/** The frame: navigation, palette, shortcuts and the live stream around the page that is open. */
export function Shell() {
  const recover = useRecover();
  const { isLost } = useLive(recover);
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
