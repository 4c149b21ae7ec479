import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import type { ChannelContext } from '../src/channel/context.ts';
import { type Sql, sql } from '../src/db/sql.ts';
import { record } from './figures.ts';
import { median, type Shop } from './shop.ts';
import { printTable } from './table.ts';

const ROUNDS = 200;
const ENCODINGS = ['identity', 'gzip', 'br'] as const;
const PATH = '/api/v1/listings?limit=50';

/**
 * The first page of a list whose answer is not kept, by what has changed since: something that is not on it, after which
 * the page comes out as it was, or a listing on it. One request at a time; the answers are not decompressed.
 */
export async function benchFirstPage(port: number, { db }: ChannelContext, shop: Shop): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  const rows: string[][] = [];
  try {
    for (const [name, changeOf] of [
      ['after another change', () => null],
      ['after a change on it', (round: number) => newTitle(shop, round)],
    ] as const) {
      for (const encoding of ENCODINGS) {
        const times: number[] = [];
        let bytes = 0;
        for (let round = 0; round < ROUNDS; round++) {
          const change = changeOf(round);
          if (change !== null) await db.query(change);
          await db.query(sql`
            update channel_clocks set stamp = stamp + interval '1 millisecond'
            where integration_id = ${shop.integrationId}`);
          const startedAt = performance.now();
          bytes = await get(port, agent, shop.apiKey, encoding);
          times.push(performance.now() - startedAt);
        }
        record({ name: `first page of 50, ${name}, ${encoding}`, unit: 'ms', ours: median(times) });
        rows.push([name, encoding, `${median(times).toFixed(2)} ms`, bytes.toLocaleString('en-US')]);
      }
    }
  } finally {
    agent.destroy();
  }
  printTable('The first page of 50, answers not kept', ['what', 'encoding', 'median', 'bytes'], rows);
}

/** Changes the newest listing, as a dealer would its title. */
function newTitle({ integrationId }: Shop, round: number): Sql {
  return sql`
    update channel_documents changed
    set document = regexp_replace(changed.document, '"title":"[^"]*"', '"title":"Bench ' || ${round}::integer || '"'),
      updated_at = changed.updated_at + interval '1 millisecond'
    from (
      select item_id from channel_documents
      where integration_id = ${integrationId} and kind = 'listing' and status = 'active'
      order by updated_at desc, item_id desc limit 1
    ) newest
    where changed.integration_id = ${integrationId} and changed.item_id = newest.item_id`;
}

async function get(port: number, agent: Agent, apiKey: string, encoding: string): Promise<number> {
  const outgoing = request({
    host: '127.0.0.1',
    port,
    path: PATH,
    agent,
    headers: { authorization: `Bearer ${apiKey}`, 'accept-encoding': encoding },
  });
  outgoing.end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  let bytes = 0;
  for await (const chunk of response) bytes += (chunk as Buffer).length;
  if (response.statusCode !== 200) throw new Error(`${PATH} answered ${response.statusCode}`);
  return bytes;
}
