import { Text, Title } from '@mantine/core';
import { paths } from '../../paths.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { PageLink } from '../../ui/page/page-link.tsx';
import { Time } from '../../ui/time.tsx';
import type { OrderPage } from './order-queries.ts';

/** What an integrator looks for: times, ids, the site's own data, and the order as the site reads it. */
export function OrderFacts({ data }: { data: OrderPage }) {
  const { order, request_id: requestId } = data;
  const metadata = Object.entries(order.metadata ?? {});
  return (
    <>
      <section className="order-section" aria-labelledby="order-facts">
        <Title order={2} size="h4" id="order-facts">
          Details
        </Title>
        <dl className="order-dl">
          {order.placed_at === null ? null : (
            <div>
              <dt>Placed</dt>
              <dd>
                <Time at={order.placed_at} />
              </dd>
            </div>
          )}
          <div>
            <dt>Received</dt>
            <dd>
              <Time at={order.created_at} />
            </dd>
          </div>
          <div>
            <dt>Changed</dt>
            <dd>
              <Time at={order.updated_at} />
            </dd>
          </div>
          {requestId === null ? null : (
            <div>
              <dt>API request</dt>
              <dd>
                <PageLink to={paths.request(requestId)} area={paths.requests()}>
                  <code>{requestId}</code>
                </PageLink>
              </dd>
            </div>
          )}
        </dl>
      </section>
      {metadata.length === 0 ? null : (
        <section className="order-section" aria-labelledby="order-metadata">
          <Title order={2} size="h4" id="order-metadata">
            Metadata
          </Title>
          <dl className="order-dl">
            {metadata.map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{typeof value === 'string' ? value : <code>{JSON.stringify(value)}</code>}</dd>
              </div>
            ))}
          </dl>
        </section>
      )}
      <details className="order-json">
        <summary>
          <Text component="span" size="sm">
            What the site reads
          </Text>
        </summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard. */}
        <section aria-label="JSON of the order" tabIndex={0}>
          <CodeBlock>{JSON.stringify(order, null, 2)}</CodeBlock>
        </section>
      </details>
    </>
  );
}
