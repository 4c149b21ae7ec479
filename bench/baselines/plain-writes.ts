import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ChannelContext } from '../../src/channel/context.ts';
import { sessionOptions } from '../../src/db/connection-settings.ts';
import { rawSql, sql } from '../../src/db/sql.ts';
import type { WriteName } from '../load/load-generator.ts';
import type { Shop } from '../shop.ts';

/** The same rows as the service writes, written by nothing but PostgreSQL: one statement and one commit for each write. */
export type SocketAddress = { socketDir: string; user: string; database: string };

/** What pgbench is fastest with here; more clients only wait for the four clocks. */
const PGBENCH_CLIENTS = 16;

const TABLES = [
  'orders',
  'order_lines',
  'reservations',
  'idempotency_records',
  'items',
  'channel_documents',
  'channel_clocks',
  'events',
  'deliveries',
  'customers',
  'customer_external_ids',
];

/** Tables of the same shape and indexes, so that the plain writer meets the same work and nobody's rows. */
export async function preparePlainTables({ db }: ChannelContext, shops: Shop[]): Promise<void> {
  await db.query(rawSql('create schema plain'));
  for (const table of TABLES)
    await db.query(rawSql(`create table plain.${table} (like ${table} including all excluding generated)`));
  const ids = shops.map((shop) => `'${shop.integrationId}'`).join(', ');
  const organizations = `select organization_id from integrations where id in (${ids})`;
  await db.query(rawSql(`insert into plain.items select * from items where organization_id in (${organizations})`));
  for (const table of ['channel_documents', 'channel_clocks']) {
    await db.query(rawSql(`insert into plain.${table} select * from ${table} where integration_id in (${ids})`));
  }
  await db.query(rawSql('create sequence plain.numbers'));
  await db.query(rawSql('create sequence plain.order_numbers'));
  await db.query(sql`
    create table plain.shops as
    select row_number() over (order by i.id) - 1 as n, i.id as integration_id, i.organization_id,
      array(select d.item_id from channel_documents d where d.integration_id = i.id) as item_ids,
      (select d.document from channel_documents d where d.integration_id = i.id limit 1) as document
    from integrations i where i.id in (${rawSql(ids)})`);
}

const SHOP = `shop as (
  select integration_id, organization_id, item_ids[1 + floor(random() * cardinality(item_ids))::int] as item_id, document,
    nextval('plain.numbers')::text as number
  from plain.shops where n = :shop
)`;
const CLOCK = `clock as (
  update plain.channel_clocks c set stamp = greatest(c.stamp + interval '1 millisecond', clock_timestamp())
  from shop where c.integration_id = shop.integration_id returning c.integration_id, c.stamp
)`;
const STOCK = `item as (
  update plain.items i set reserved_units = reserved_units + 1 from shop where i.id = shop.item_id returning i.id
), document as (
  update plain.channel_documents d set quantity = quantity - 1, document = shop.document, updated_at = clock.stamp
  from shop, clock where d.integration_id = shop.integration_id and d.item_id = shop.item_id returning d.item_id
)`;
const EVENT = `event as (
  insert into plain.events (integration_id, id, type, created_at, body, is_suppressed)
  select shop.integration_id, 'evt_' || number, 'listing.updated', stamp, repeat('x', 300), true from shop, clock returning id
)`;
const record = (bytes: number) => `
insert into plain.idempotency_records (integration_id, key, fingerprint, status, body, request_id, is_test, created_at)
select shop.integration_id, number, '\\x00'::bytea, 200, repeat('x', ${bytes}), 'req_' || number, false, clock_timestamp()
from shop`;

/** An `event` is a ping whose event is delivered: the row of its delivery is part of the same commit. */
export type PlainWrite = WriteName | 'event';

/** One write's rows as a single statement: the least that PostgreSQL can be asked to do for them. */
const STATEMENTS: Record<PlainWrite, string | string[]> = {
  event: `with ${SHOP}, ${CLOCK}, ${EVENT}, delivery as (
    insert into plain.deliveries (integration_id, id, event_id, status, created_at, due_at)
    select shop.integration_id, 'dlv_' || number, 'evt_' || number, 'pending', stamp, stamp from shop, clock
  ) ${record(150)}`,
  ping: `with ${SHOP}, ${CLOCK}, ${EVENT} ${record(150)}`,
  customer: `with ${SHOP}, customer as (
    insert into plain.customers (id, organization_id, is_test, email, email_key, first_name, last_name, created_at, updated_at)
    select 'cus_' || number, organization_id, false, number || '@example.ch', number || '@example.ch', 'Ana', 'B', now(), now()
    from shop
  ), link as (
    insert into plain.customer_external_ids (integration_id, is_test, external_id, customer_id)
    select integration_id, false, number, 'cus_' || number from shop
  ) ${record(400)}`,
  order: `with ${SHOP}, ${CLOCK}, ${STOCK}, ${EVENT}, numbered as (
    select nextval('plain.order_numbers')::text as order_number
  ), new_order as (
    insert into plain.orders (integration_id, id, organization_id, channel_order_id, status, is_test, document, created_at, updated_at)
    select integration_id, 'ord_' || order_number, organization_id, order_number, 'received', false, repeat('x', 900), stamp, stamp
    from shop join clock using (integration_id), numbered
  ), line as (
    insert into plain.order_lines (integration_id, id, order_id, position, item_id, units, is_holding)
    select integration_id, 'oln_' || order_number, 'ord_' || order_number, 0, item_id, 1, true from shop, numbered
  ) ${record(900)}`,
  cancellation: `with ${SHOP}, ${CLOCK}, ${STOCK}, ${EVENT}, chosen as (
    select o.integration_id, o.id from shop, lateral (
      select integration_id, id from plain.orders
      where integration_id = shop.integration_id
        and id >= 'ord_' || floor(random() * (select last_value from plain.order_numbers))::bigint
      order by id limit 1) o
  ), changed as (
    update plain.orders o set status = 'cancelled', document = repeat('y', 950), updated_at = clock.stamp
    from chosen, clock where o.integration_id = chosen.integration_id and o.id = chosen.id
  ), line as (
    update plain.order_lines l set is_holding = not is_holding
    from chosen where l.integration_id = chosen.integration_id and l.order_id = chosen.id
  ) ${record(950)}`,
  // Making and releasing in turn, as the load generator does.
  reservation: [
    `with ${SHOP}, ${CLOCK}, ${STOCK}, ${EVENT}, made as (
      insert into plain.reservations (integration_id, id, organization_id, is_test, kind, item_id, units, reference, status,
        expires_at, created_at, updated_at)
      select integration_id, 'rsv_' || number, organization_id, false, 'listing', item_id, 1, number, 'active',
        stamp + interval '15 minutes', stamp, stamp
      from shop join clock using (integration_id)
    ) ${record(400)}`,
    `with ${SHOP}, ${CLOCK}, ${STOCK}, ${EVENT}, chosen as (
      select r.integration_id, r.id from shop, lateral (
        select integration_id, id from plain.reservations
        where integration_id = shop.integration_id and status = 'active' order by expires_at limit 1) r
    ), released as (
      update plain.reservations r set status = 'released', updated_at = clock.stamp
      from chosen, clock where r.integration_id = chosen.integration_id and r.id = chosen.id
    ) ${record(400)}`,
  ],
};

export type PlainResult = { perSecond: number; label: string };

export async function writePlainly(
  write: PlainWrite,
  { dir, address, shopCount, seconds }: { dir: string; address: SocketAddress; shopCount: number; seconds: number },
): Promise<PlainResult | null> {
  const scripts: string[] = [];
  // Of several scripts pgbench takes one at random for each transaction.
  for (const [index, statement] of [STATEMENTS[write]].flat().entries()) {
    const script = join(dir, `${write}-${index}.sql`);
    await writeFile(script, `\\set shop random(0, ${shopCount - 1})\n${statement.replaceAll('\n', ' ')};\n`);
    scripts.push('-f', script);
  }
  const args = ['-n', '-M', 'prepared', '-c', String(PGBENCH_CLIENTS), '-j', '1', '-T', String(seconds), ...scripts];
  const connection = ['-h', address.socketDir, '-U', address.user, address.database];
  try {
    const { stdout } = await promisify(execFile)('pgbench', [...args, ...connection], {
      // The same durability as our own connections have, or the ratio would compare two different promises.
      env: { ...process.env, PGOPTIONS: sessionOptions() },
    });
    return { perSecond: Math.round(Number(/tps = ([\d.]+)/.exec(stdout)?.[1])), label: 'pgbench' };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
