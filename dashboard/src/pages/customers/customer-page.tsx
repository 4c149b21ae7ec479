import { Anchor, Button, Group, Text, Title } from '@mantine/core';
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { apiUrl } from '../../api/client.ts';
import { formatCount, formatMoney } from '../../format.ts';
import { mailtoOf } from '../../mailto.ts';
import { paths } from '../../paths.ts';
import { CopyId } from '../../ui/copy-id.tsx';
import { Nothing } from '../../ui/nothing.tsx';
import { Page } from '../../ui/page/page.tsx';
import { ErrorState } from '../../ui/page/states.tsx';
import { TestBadge } from '../../ui/test-badge.tsx';
import { Time } from '../../ui/time.tsx';
import { OrderStatus } from '../orders/order-status.tsx';
import './customer.css';
import { type CustomerPage as Customer, customerOrdersQuery, customerQuery, nameOf } from './customer-queries.ts';
import { EditDialog } from './edit-dialog.tsx';
import { EraseCustomer } from './erase-customer.tsx';
import { addressLines, MergeDialog } from './merge-dialog.tsx';
import { MergePicker } from './merge-picker.tsx';

export function CustomerPage() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const { data } = useSuspenseQuery(customerQuery(id));
  return <CustomerView key={data.id} customer={data} />;
}

type Opened = 'edit' | 'pick' | { mergedId: string } | null;

function CustomerView({ customer }: { customer: Customer }) {
  const [opened, setOpened] = useState<Opened>(null);
  const navigate = useNavigate();
  const close = () => setOpened(null);
  const actions = (
    <Group gap="xs" wrap="nowrap">
      <Button variant="default" onClick={() => setOpened('pick')}>
        Merge…
      </Button>
      <Button onClick={() => setOpened('edit')}>Edit</Button>
    </Group>
  );
  return (
    <Page title={nameOf(customer)} action={actions}>
      <Group gap="md" mb="md" className="title-line">
        {customer.is_test ? <TestBadge /> : null}
        <Text size="sm" c="dimmed">
          Known since <Time at={customer.created_at} />
        </Text>
        <CopyId id={customer.id} label="customer id" />
      </Group>
      <div className="customer-page">
        <Orders customer={customer} />
        <aside aria-label="Details of the customer">
          <Details customer={customer} />
          <Links customer={customer} />
          <Section title="Erase for ever">
            <EraseCustomer customer={customer} />
          </Section>
        </aside>
      </div>
      {opened === 'edit' ? <EditDialog customer={customer} onClose={close} /> : null}
      {opened === 'pick' ? (
        <MergePicker customer={customer} onClose={close} onPick={(mergedId) => setOpened({ mergedId })} />
      ) : null}
      {opened !== null && typeof opened === 'object' ? (
        <MergeDialog
          keptId={customer.id}
          mergedId={opened.mergedId}
          onClose={close}
          onMerged={(keptId) => navigate({ to: paths.customer(keptId), replace: true })}
        />
      ) : null}
    </Page>
  );
}

function Orders({ customer }: { customer: Customer }) {
  const { data, error, refetch } = useQuery(customerOrdersQuery(customer.id));
  const { spent, orders } = customer;
  const search = { tab: 'all', test: 'show', customer_id: customer.id };
  return (
    <Section
      title="Orders"
      side={
        orders.value === 0 ? null : (
          <Anchor component={Link} to={paths.orders()} search={search as never} size="sm">
            {orders.value === 1 ? 'Show 1 order' : `Show all ${formatCount(orders)} orders`}
          </Anchor>
        )
      }
    >
      <Text size="sm" mb="xs">
        {spent === null
          ? 'There are too many sales to add up.'
          : spent.length === 0
            ? 'Nothing was sold to this customer yet.'
            : `Spent ${spent.map(({ amount, currency }) => formatMoney(amount, currency)).join(' and ')}.`}
      </Text>
      {error === null ? null : <ErrorState error={error} onRetry={() => void refetch()} />}
      <ul className="customer-orders">
        {data?.data.map((order) => (
          <li key={order.id}>
            <div>
              <Anchor component={Link} to={paths.order(order.id)} size="sm" fw={600}>
                {order.channel_order_id}
              </Anchor>
              <Text size="xs" c="dimmed">
                <Time at={order.created_at} />
              </Text>
            </div>
            <Group gap="md" justify="flex-end">
              <OrderStatus order={order} />
              <Text size="sm" className="figures">
                {order.total_amount === null ? '–' : formatMoney(order.total_amount, order.currency)}
              </Text>
            </Group>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Details({ customer }: { customer: Customer }) {
  const { email, phone, company, address } = customer;
  const lines = address === null ? [] : addressLines(address);
  return (
    <Section title="Contact">
      <dl className="customer-dl">
        <Fact label="Email">
          {email === null ? null : (
            <Anchor href={mailtoOf(email)} size="sm">
              {email}
            </Anchor>
          )}
        </Fact>
        <Fact label="Phone">
          {phone === null ? null : (
            <Anchor href={`tel:${phone}`} size="sm">
              {phone}
            </Anchor>
          )}
        </Fact>
        <Fact label="Company">{company}</Fact>
        <Fact label="Address">
          {lines.length === 0
            ? null
            : lines.map((line) => (
                <span key={line}>
                  {line}
                  <br />
                </span>
              ))}
        </Fact>
      </dl>
    </Section>
  );
}

function Links({ customer }: { customer: Customer }) {
  return (
    <Section title="On your channels">
      {customer.links.length === 0 ? (
        <Text size="sm" c="dimmed">
          No channel has an id of its own for this customer.
        </Text>
      ) : (
        <dl className="customer-dl">
          {customer.links.map(({ integration_id: id, channel_name: name, external_id: externalId }) => (
            <div key={`${id} ${externalId}`}>
              <dt>{name ?? 'Detached'}</dt>
              <dd>
                <CopyId id={externalId} label={`id on ${name ?? 'a detached integration'}`} />
              </dd>
            </div>
          ))}
        </dl>
      )}
      <Anchor
        href={apiUrl('GET /customers/{customer_id}/export', { params: { customer_id: customer.id } })}
        download
        size="sm"
        mt="md"
        display="inline-block"
      >
        Export this person’s data
      </Anchor>
    </Section>
  );
}

function Section({ title, side, children }: { title: string; side?: ReactNode; children: ReactNode }) {
  return (
    <section className="customer-section" aria-label={title}>
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h4">
          {title}
        </Title>
        {side}
      </Group>
      {children}
    </section>
  );
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children ?? <Nothing />}</dd>
    </div>
  );
}
