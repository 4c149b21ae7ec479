import { Anchor, List, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { paths } from '../../paths.ts';
import { DocsLink } from '../../ui/docs-link.tsx';
import type { IntegrationEntry } from '../integrations/integration-queries.ts';

type Counts = Record<string, { value: number }>;
type SetupProps = { watches: Counts; parts: Counts; orders: Counts; integrations: IntegrationEntry[] };

/** The way from an empty account to the first live order. It leaves when that order has come. */
export function SetupChecklist({ watches, parts, orders, integrations }: SetupProps) {
  if (has(orders)) return null;
  const [first] = integrations;
  const website = first === undefined ? paths.newIntegration() : paths.integration(first.id);
  const steps = [
    {
      label: 'Enter a watch or a part, or import your stock',
      to: paths.newItem('listing'),
      isDone: has(watches) || has(parts),
    },
    { label: 'Connect your website', to: website, isDone: first !== undefined },
    {
      label: 'Say where its webhooks go',
      to: website,
      isDone: integrations.some(({ webhook }) => webhook.url !== null),
    },
    { label: 'Go live', to: website, isDone: integrations.some((one) => one.is_enabled && !one.is_test_mode) },
    { label: 'Receive the first order', to: paths.orders(), isDone: false },
  ];
  return (
    <section aria-labelledby="setup">
      <Title order={2} size="h4" mb="xs" id="setup">
        Set up
      </Title>
      <List type="ordered" spacing={6}>
        {steps.map(({ label, to, isDone }) => (
          <List.Item key={label}>
            {isDone ? (
              <Text component="span" c="dimmed">
                {label} · done
              </Text>
            ) : (
              <Anchor component={Link} to={to}>
                {label}
              </Anchor>
            )}
          </List.Item>
        ))}
      </List>
      <Text c="dimmed" mt="xs">
        Whoever builds your website finds everything in the <DocsLink>developer documentation</DocsLink>.
      </Text>
    </section>
  );
}

function has(counts: Counts): boolean {
  return (counts.all?.value ?? 0) > 0;
}
