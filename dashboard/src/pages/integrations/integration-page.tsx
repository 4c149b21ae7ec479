import { Group, Tabs, Text } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Page } from '../../ui/page/page.tsx';
import { Status } from '../../ui/status.tsx';
import { integrationQuery, useLastCheck } from './integration-queries.ts';
import { ModeStatus, WebhookStatus } from './integration-status.tsx';
import { DangerTab } from './tabs/danger-tab.tsx';
import { OverviewTab } from './tabs/overview-tab.tsx';
import { PresentationTab } from './tabs/presentation-tab.tsx';
import { TestEventButton, TestEventResult, useTestEvent } from './tabs/test-event.tsx';
import { WebhooksTab } from './tabs/webhooks-tab.tsx';

const TABS = [
  { id: 'overview', label: 'Overview', Panel: OverviewTab },
  { id: 'webhooks', label: 'Webhooks', Panel: WebhooksTab },
  { id: 'prices', label: 'Prices and photos', Panel: PresentationTab },
  { id: 'danger', label: 'Danger', Panel: DangerTab },
] as const;

export function IntegrationPage() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const { tab: wanted } = useSearch({ strict: false }) as { tab?: string };
  const navigate = useNavigate();
  const { data: integration } = useSuspenseQuery(integrationQuery(id));
  const check = useLastCheck(id);
  const test = useTestEvent(id);
  const { id: tab, Panel } = TABS.find((one) => one.id === wanted) ?? TABS[0];
  return (
    <Page title={integration.name} action={<TestEventButton test={test} />}>
      <Group gap="lg" mb="sm">
        <Status tone={integration.is_enabled ? 'good' : 'off'}>
          {integration.is_enabled ? 'Enabled' : 'Disabled'}
        </Status>
        <ModeStatus isTestMode={integration.is_test_mode} />
        <Group gap={6}>
          <Text size="sm" c="dimmed">
            Webhooks
          </Text>
          <WebhookStatus webhook={integration.webhook} check={check} />
        </Group>
      </Group>
      <TestEventResult integrationId={id} test={test} />
      <Tabs
        value={tab}
        onChange={(next) =>
          void navigate({ to: '.', search: { tab: next === 'overview' ? undefined : next } as never })
        }
        keepMounted={false}
      >
        <Tabs.List mb="lg" className="scrolling-tabs">
          {TABS.map((one) => (
            <Tabs.Tab key={one.id} value={one.id}>
              {one.label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={tab}>
          <Panel key={id} integration={integration} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}
