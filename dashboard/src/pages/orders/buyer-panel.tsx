import { Anchor, Button, Text, Title } from '@mantine/core';
import { useOperation } from '../../api/queries.ts';
import { countryName } from '../../format.ts';
import { mailtoOf } from '../../mailto.ts';
import { paths } from '../../paths.ts';
import { PageLink } from '../../ui/page/page-link.tsx';
import { refreshOrder } from './order-actions.tsx';
import type { Order, OrderPage } from './order-queries.ts';

/** Who bought it, and where it goes. */
export function BuyerPanel({ data }: { data: OrderPage }) {
  const { order, customer } = data;
  const { customer: buyer } = order;
  const name = [buyer?.first_name, buyer?.last_name].filter(Boolean).join(' ');
  return (
    <>
      <section className="order-section" aria-labelledby="order-buyer">
        <Title order={2} size="h4" id="order-buyer">
          Buyer
        </Title>
        {buyer === null && customer === null ? (
          <Text size="sm" c="dimmed">
            The site named no buyer.
          </Text>
        ) : (
          <div>
            <Text>
              {customer === null ? (
                name || 'No name'
              ) : (
                <PageLink to={paths.customer(customer.id)} area={paths.customers()}>
                  {customer.name ?? customer.email ?? customer.phone ?? 'Customer without a name'}
                </PageLink>
              )}
            </Text>
            {customer !== null && name !== '' && customer.name !== name ? (
              <Text size="xs" c="dimmed">
                Reported as {name}
              </Text>
            ) : null}
            <Contact href={buyer?.email == null ? null : mailtoOf(buyer.email)} text={buyer?.email} />
            <Contact href={buyer?.phone == null ? null : `tel:${buyer.phone}`} text={buyer?.phone} />
            {buyer?.external_id == null ? null : (
              <Text size="xs" c="dimmed">
                {buyer.external_id} on the site
              </Text>
            )}
          </div>
        )}
        {data.has_customer_conflict ? <Conflict data={data} /> : null}
      </section>
      <Addresses order={order} />
    </>
  );
}

function Contact({ href, text }: { href: string | null; text: string | null | undefined }) {
  if (href === null || text == null) return null;
  return (
    <Text size="sm" className="order-contact">
      <Anchor href={href} inherit>
        {text}
      </Anchor>
    </Text>
  );
}

/** The reported buyer is several of the dealer's customers; the dealer says which one it was. */
function Conflict({ data }: { data: OrderPage }) {
  const { order, conflicting_customers: customers } = data;
  const assign = useOperation('PUT /orders/{order_id}/customer', {
    success: 'The buyer is decided.',
    onSuccess: () => refreshOrder(order.id),
  });
  const choose = (customerId: string | null) =>
    assign.mutate({ params: { order_id: order.id }, body: { customer_id: customerId } });
  return (
    <div className="order-note" role="note">
      <Text size="sm" mb={6}>
        This email, phone and id belong to different customers. Whose order is it?
      </Text>
      <ul className="order-choices">
        {customers.map(({ id, name, email, phone }) => (
          <li key={id}>
            <Text size="sm" component="span">
              {[name, email, phone].filter((text) => text !== null).join(', ')}
            </Text>
            <Button
              variant="default"
              size="compact-xs"
              aria-label={`This one: ${name ?? email ?? phone ?? 'this customer'}`}
              disabled={assign.isPending}
              onClick={() => choose(id)}
            >
              This one
            </Button>
          </li>
        ))}
      </ul>
      <Button variant="subtle" size="compact-xs" disabled={assign.isPending} onClick={() => choose(null)}>
        None of them
      </Button>
    </div>
  );
}

function Addresses({ order }: { order: Order }) {
  const { shipping_address: shipping, billing_address: billing } = order;
  if (shipping === null && billing === null) return null;
  const isSame = shipping !== null && JSON.stringify(shipping) === JSON.stringify(billing);
  return (
    <section className="order-section" aria-label="Addresses">
      {shipping === null ? null : <Address title="Ship to" address={shipping} />}
      {billing === null ? null : isSame ? (
        <Text size="sm" c="dimmed">
          The billing address is the same.
        </Text>
      ) : (
        <Address title="Bill to" address={billing} />
      )}
    </section>
  );
}

function Address({ title, address }: { title: string; address: NonNullable<Order['shipping_address']> }) {
  const { name, line1, line2, postal_code: code, city, state, country } = address;
  const place = [code, city].filter(Boolean).join(' ');
  const lines = [name, line1, line2, [place, state].filter(Boolean).join(', '), countryName(country)];
  return (
    <div>
      <Title order={2} size="h4" mb={4}>
        {title}
      </Title>
      <address className="order-address">
        {lines
          .filter((line) => line !== null && line !== '')
          .map((line) => (
            <div key={line}>{line}</div>
          ))}
      </address>
    </div>
  );
}
