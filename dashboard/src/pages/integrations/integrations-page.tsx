import { Anchor, Progress, Stack, Table, Text, Title } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { formatNumber } from '../../format.ts';
import { paths } from '../../paths.ts';
import { useOwnerOnlyReason } from '../../shell/session/session.ts';
import { DocsLink } from '../../ui/docs-link.tsx';
import { Page } from '../../ui/page/page.tsx';
import { EmptyState } from '../../ui/page/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/time.tsx';
import { type Deletion, type IntegrationEntry, integrationsQuery } from './integration-queries.ts';
import { ModeStatus, WebhookStatus } from './integration-status.tsx';
import { ReasonButton } from './reason-button.tsx';

export function IntegrationsPage() {
  const { data, deletions } = useSuspenseQuery(integrationsQuery).data;
  return (
    <Page title="Integrations" action={data.length === 0 ? null : <NewButton />}>
      {data.length === 0 ? (
        <EmptyState title="No integrations yet." action={<NewButton />}>
          An integration connects one website to your stock: it reads what you publish and reports its orders.
        </EmptyState>
      ) : (
        <IntegrationTable integrations={data} />
      )}
      <Text size="sm" c="dimmed" mt="md" ta={data.length === 0 ? 'center' : 'left'}>
        Whoever builds your website finds everything in the <DocsLink>developer documentation</DocsLink>.
      </Text>
      <Deletions deletions={deletions} />
    </Page>
  );
}

/** What is being deleted, until nothing is left of it. */
function Deletions({ deletions }: { deletions: Deletion[] }) {
  if (deletions.length === 0) return null;
  return (
    <Stack gap="sm" mt="xl" maw={760}>
      <Title order={2} size="h4">
        Being deleted
      </Title>
      {deletions.map(({ id, name, done, total, error }) => (
        <Stack key={id} gap={4}>
          <Text size="sm" role="status">
            {name ?? 'An integration'}: {formatNumber(done)}
            {total === null ? '' : ` of ${formatNumber(total)}`} records removed
          </Text>
          <Progress
            value={total === null || total === 0 ? 0 : (100 * done) / total}
            aria-label={`Deletion of ${name ?? 'an integration'}`}
          />
          {error === null ? null : <Text size="sm">{error} It is tried again by itself.</Text>}
        </Stack>
      ))}
    </Stack>
  );
}

function NewButton() {
  const navigate = useNavigate();
  const reason = useOwnerOnlyReason();
  return (
    <ReasonButton reason={reason} onClick={() => void navigate({ to: paths.newIntegration() })}>
      New integration
    </ReasonButton>
  );
}

function IntegrationTable({ integrations }: { integrations: IntegrationEntry[] }) {
  return (
    <div className="integration-table">
      <Table verticalSpacing="xs" highlightOnHover aria-label="Integrations">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th>State</Table.Th>
            <Table.Th>Mode</Table.Th>
            <Table.Th>Webhooks</Table.Th>
            <Table.Th>Currency</Table.Th>
            <Table.Th>Key last used</Table.Th>
            <Table.Th>API version</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {integrations.map((integration) => (
            <Table.Tr key={integration.id}>
              <Table.Td>
                <Anchor component={Link} to={paths.integration(integration.id)} fw={600}>
                  {integration.name}
                </Anchor>
              </Table.Td>
              <Table.Td>
                <Status tone={integration.is_enabled ? 'good' : 'off'}>
                  {integration.is_enabled ? 'Enabled' : 'Disabled'}
                </Status>
              </Table.Td>
              <Table.Td>
                <ModeStatus isTestMode={integration.is_test_mode} />
              </Table.Td>
              <Table.Td data-label="Webhooks">
                <WebhookStatus webhook={integration.webhook} />
              </Table.Td>
              <Table.Td data-label="Currency">{integration.currency}</Table.Td>
              <Table.Td data-label="Key last used">
                {integration.last_used_at === null ? (
                  <Text c="dimmed" component="span" inherit>
                    never
                  </Text>
                ) : (
                  <Time at={integration.last_used_at} />
                )}
              </Table.Td>
              <Table.Td data-label="API version">
                <code>{integration.api_version}</code>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}
