import { readFormerContacts } from '../../customers/former-contacts.ts';
import { linksOfCustomers, readCustomer } from '../../customers/read-customer.ts';
import type { Queryable } from '../../db/database.ts';
import { inPages, PIECE_BYTES } from '../../db/large-pages.ts';
import { sql } from '../../db/sql.ts';
import { type OrderKey, readOrderDocuments } from '../orders/order-pages.ts';

/** Each statement looks at all orders of the customer, so it finds the keys of many pieces. */
const KEYS_LIMIT = 1_000;
/** A sale has up to 3 KB of text. */
const SALES_IN_PIECE = 100;

/**
 * All that the dealer keeps about one person, as the pieces of one JSON text: 256 KiB each, or one order if that is larger.
 * The event loop does nothing else while a piece is read and written.
 */
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
  const formerContacts = await readFormerContacts(db, customer.id);
  yield `{"customer":${JSON.stringify(presentCustomer(customer))},`;
  yield `"former_contacts":${JSON.stringify(formerContacts)},`;
  yield `"external_ids":${JSON.stringify(
    links.map(({ integrationId, externalId }) => ({ integration_id: integrationId, external_id: externalId })),
  )},"orders":[`;
  yield* separated(orderPieces(db, customer.id));
  yield '],"counter_sales":[';
  yield* separated(salePieces(db, customer.id));
  yield ']}';
}

/** Pieces of the elements of one array: a comma stands between the elements, so also between the pieces. */
async function* separated(pieces: AsyncGenerator<string[]>): AsyncGenerator<string> {
  let separator = '';
  for await (const elements of pieces) {
    if (elements.length === 0) continue;
    yield separator + elements.join(',');
    separator = ',';
  }
}

async function* orderPieces(db: Queryable, customerId: string): AsyncGenerator<string[]> {
  let after = '';
  for (;;) {
    const keys = await db.query<OrderKey>(sql`
      select integration_id as "integrationId", id, octet_length(document) as bytes from orders
      where customer_id = ${customerId} and id > ${after} order by id limit ${KEYS_LIMIT}`);
    for (const page of inPages(keys, PIECE_BYTES)) {
      const orders = await readOrderDocuments(db, page);
      yield orders.map(({ document }) => document);
    }
    after = keys.at(-1)?.id ?? after;
    if (keys.length < KEYS_LIMIT) return;
  }
}

async function* salePieces(db: Queryable, customerId: string): AsyncGenerator<string[]> {
  let after = '';
  for (;;) {
    const sales = await db.query<{ id: string }>(sql`
      select id, title, stock_number, units, amount, currency, status, created_at from sales
      where customer_id = ${customerId} and order_id is null and id > ${after} order by id limit ${SALES_IN_PIECE}`);
    yield sales.map((sale) => JSON.stringify(sale));
    after = sales.at(-1)?.id ?? after;
    if (sales.length < SALES_IN_PIECE) return;
  }
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
