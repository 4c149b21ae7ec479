import { Anchor, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { FAILED_JOB_DAYS } from '../../../../src/contract/dashboard/limits.ts';
import { formatCount } from '../../format.ts';
import { paths } from '../../paths.ts';
import { useBadges } from '../../shell/navigation/badges.ts';
import { useSession } from '../../shell/session/session.ts';
import { Page } from '../../ui/page/page.tsx';
import { Status } from '../../ui/status.tsx';
import { integrationsQuery } from '../integrations/integration-queries.ts';
import { orderChoicesQuery } from '../orders/order-queries.ts';
import { stockChoicesQuery } from '../stock/stock-queries.ts';
import { ActivityPlots } from './activity.tsx';
import { SetupChecklist } from './setup-checklist.tsx';
import { StockValue } from './stock-value.tsx';

/** What needs the dealer, what is left to set up, and the figures of the day. */
export function HomePage() {
  const { organization } = useSession();
  const watches = useSuspenseQuery(stockChoicesQuery('listing')).data.tabs;
  const parts = useSuspenseQuery(stockChoicesQuery('part')).data.tabs;
  const orders = useSuspenseQuery(orderChoicesQuery({ test: 'hide' })).data.tabs;
  const integrations = useSuspenseQuery(integrationsQuery).data.data;
  return (
    <Page title={organization.name}>
      <Stack gap="xl" maw={960}>
        <Attention hasPlan={organization.has_integration_plan} />
        <SetupChecklist watches={watches} parts={parts} orders={orders} integrations={integrations} />
        <ActivityPlots />
        <StockValue />
        <Figures title="Watches" path={paths.watches()} counts={watches} figures={STOCK_FIGURES} />
        <Figures title="Parts" path={paths.parts()} counts={parts} figures={STOCK_FIGURES} />
        <Figures title="Orders" path={paths.orders()} counts={orders} figures={ORDER_FIGURES} />
      </Stack>
    </Page>
  );
}

/** By the name of a count in GET /badges: where it leads, and what it says of one and of many. */
const NEEDS: readonly { badge: string; to: string; search?: Record<string, string>; one: string; many: string }[] = [
  {
    badge: 'orders',
    to: paths.orders(),
    one: 'order waits for you in the queue',
    many: 'orders wait for you in the queue',
  },
  {
    badge: 'customers',
    to: paths.customers(),
    search: { tab: 'conflicts' },
    one: 'order names a buyer who may be two customers',
    many: 'orders name a buyer who may be two customers',
  },
  {
    badge: 'integrations',
    to: paths.integrations(),
    one: 'website gets no webhooks: they are switched off',
    many: 'websites get no webhooks: they are switched off',
  },
  {
    badge: 'disabled',
    to: paths.integrations(),
    one: 'website is switched off: its requests are answered with 403',
    many: 'websites are switched off: their requests are answered with 403',
  },
  {
    badge: 'deliveries',
    to: paths.deliveries(),
    search: { status: 'dead_letter' },
    one: 'webhook was given up after its last attempt',
    many: 'webhooks were given up after their last attempt',
  },
  {
    badge: 'unpriceable',
    to: paths.integrations(),
    one: 'item has no price on a website: its exchange rate is missing, or the price is too large',
    many: 'items have no price on a website: an exchange rate is missing, or prices are too large',
  },
  {
    badge: 'failed_jobs',
    to: paths.jobs(),
    search: { status: 'failed' },
    one: `job failed in the last ${FAILED_JOB_DAYS} days`,
    many: `jobs failed in the last ${FAILED_JOB_DAYS} days`,
  },
];

/** Without the plan, every website of the dealer is refused: that comes before all others. */
function Attention({ hasPlan }: { hasPlan: boolean }) {
  const counts = useBadges();
  const needs = NEEDS.filter(({ badge }) => (counts[badge] ?? 0) > 0);
  return (
    <section aria-labelledby="attention">
      <Title order={2} size="h4" mb="xs" id="attention">
        What needs you
      </Title>
      {hasPlan ? null : (
        <div className="home-need">
          <Status tone="bad">Plan off</Status>
          Your plan has no integrations: your websites are answered with 403. The operator of this service can turn it
          on.
        </div>
      )}
      {needs.length === 0 && hasPlan ? <Text c="dimmed">Nothing right now.</Text> : null}
      <Stack gap={0}>
        {needs.map(({ badge, to, search, one, many }) => (
          <Anchor
            key={badge}
            component={Link}
            to={to}
            search={(search ?? {}) as never}
            className="home-need"
            underline="hover"
          >
            <span className="badge">{counts[badge]}</span> {counts[badge] === 1 ? one : many}
          </Anchor>
        ))}
      </Stack>
    </section>
  );
}

type Figure = { id: string; label: string; search: Record<string, string> };
type Counts = Record<string, { value: number; is_capped: boolean }>;

const STOCK_FIGURES: readonly Figure[] = [
  { id: 'in_stock', label: 'In stock', search: { status: 'in_stock' } },
  { id: 'reserved', label: 'Reserved', search: { status: 'reserved' } },
  { id: 'no_channel', label: 'On no channel', search: { integration_id: 'none' } },
  { id: 'needs_work', label: 'Incomplete', search: { needs_work: 'yes' } },
];
const ORDER_FIGURES: readonly Figure[] = [
  { id: 'queue', label: 'In the queue', search: {} },
  { id: 'matched', label: 'To fulfil', search: { tab: 'matched' } },
  { id: 'fulfilled', label: 'Fulfilled', search: { tab: 'fulfilled' } },
  { id: 'cancelled', label: 'Cancelled', search: { tab: 'cancelled' } },
];

type FiguresProps = { title: string; path: string; counts: Counts; figures: readonly Figure[] };

/** Each figure leads to the rows that it counts. */
function Figures({ title, path, counts, figures }: FiguresProps) {
  return (
    <section aria-label={title}>
      <Title order={2} size="h4" mb="xs">
        {title}
      </Title>
      <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="sm">
        {figures.map(({ id, label, search }) => (
          <Anchor
            key={id}
            component={Link}
            to={path}
            search={search as never}
            className="home-figure"
            underline="never"
          >
            <span className="home-figure-value">{formatCount(counts[id] ?? { value: 0, is_capped: false })}</span>
            <span>{label}</span>
          </Anchor>
        ))}
      </SimpleGrid>
    </section>
  );
}
