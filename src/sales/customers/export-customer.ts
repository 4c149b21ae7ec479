import { linksOfCustomers, readCustomer } from '../../customers/read-customer.ts';
import type { Queryable } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';

const ORDERS_IN_PIECE = 50;
const SALES_LIMIT = 10_000;

/** All that the dealer keeps about one person, as the pieces of one JSON text. */
export async function exportCustomer(
  db: Queryable,
  organizationId: string,
  customerId: string,
): Promise<AsyncGenerator<string>> {
  // Before the first byte, so that a missing customer is refused.
  const customer = await readCustomer(db, organizationId, customerId);
  return pieces(db, customer);
}

type Customer = Awaited<ReturnType<typeof readCustomer>>;

async function* pieces(db: Queryable, customer: Customer): AsyncGenerator<string> {
  const links = await linksOfCustomers(db, [customer.id]);
  yield `{"customer":${JSON.stringify(presentCustomer(customer))},`;
  yield `"external_ids":${JSON.stringify(
    links.map(({ integrationId, externalId }) => ({ integration_id: integrationId, external_id: externalId })),
  )},"orders":[`;
  let after = '';
  for (;;) {
    const rows = await db.query<{ id: string; document: string }>(sql`
      select id, document from orders where customer_id = ${customer.id} and id > ${after}
      order by id limit ${ORDERS_IN_PIECE}`);
    if (rows.length > 0) yield `${after === '' ? '' : ','}${rows.map(({ document }) => document).join(',')}`;
    after = rows.at(-1)?.id ?? after;
    if (rows.length < ORDERS_IN_PIECE) break;
  }
  yield `],"counter_sales":${JSON.stringify(await counterSales(db, customer.id))}}`;
}

async function counterSales(db: Queryable, customerId: string): Promise<unknown[]> {
  return await db.query(sql`
    select id, title, stock_number, units, amount, currency, status, created_at from sales
    where customer_id = ${customerId} and order_id is null order by id limit ${SALES_LIMIT}`);
}

function presentCustomer(customer: Customer) {
  return {
    id: customer.id,
    is_test: customer.isTest,
    email: customer.email,
    phone: customer.phone,
    first_name: customer.firstName,
    last_name: customer.lastName,
    company: customer.company,
    address: customer.address,
    created_at: customer.createdAt.toISOString(),
    updated_at: customer.updatedAt.toISOString(),
  };
}
