import { Anchor, Text } from '@mantine/core';
import { BASE_PATH } from '../../api/client.ts';
import { useSession } from '../../shell/session.ts';
import { Page } from '../../ui/page.tsx';
import { EmptyState } from '../../ui/states.tsx';

export function HomePage() {
  const { organization } = useSession();
  return (
    <Page title={organization.name}>
      <EmptyState title="Nothing needs you right now.">
        Connect your website with the{' '}
        <Anchor href={`${BASE_PATH}/docs/api`} inherit>
          developer documentation
        </Anchor>
        .
      </EmptyState>
      {organization.has_integration_plan ? null : <Text c="dimmed">Your plan has no integrations.</Text>}
    </Page>
  );
}
