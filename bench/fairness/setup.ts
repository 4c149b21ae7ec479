import type { ChildProcess } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { COMMAND_LINE } from '../../src/audit/actor.ts';
import type { ChannelContext } from '../../src/channel/context.ts';
import { sql } from '../../src/db/sql.ts';
import type { Connection } from '../../src/service/connect.ts';
import { setUrl } from '../../src/webhooks/endpoints/endpoint-settings.ts';
import { createSecretEncryption } from '../../src/webhooks/endpoints/secret-encryption.ts';
import { createSsrfGuard } from '../../src/webhooks/sending/ssrf-guard.ts';
import { preparePlainTables, type SocketAddress, writePlainly } from '../baselines/plain-writes.ts';
import type { WriteShop } from '../load/load-generator.ts';
import type { LoopDelay } from '../load/loop-delay.ts';
import type { NeighbourKind } from '../load/neighbour.ts';
import { freePort, type Stage } from '../processes.ts';
import { makeShop, openBackDoor, type Shop } from '../shop.ts';

const LISTINGS = 1_000;
const UNITS = 1_000_000;
const DELAY_LIMIT_MS = 10_000;
const SECRET_KEY = '0'.repeat(64);

/** The service with a loud dealer and a neighbour of four kinds, and what both are compared with. */
export type Scene = {
  stage: Stage;
  service: { port: number; process: ChildProcess };
  /** Where the service writes how long its event loop kept things waiting. */
  delayFile: string;
  context: ChannelContext;
  link: Connection;
  address: SocketAddress;
  /** Of a bare server that answers the other dealer's reads. */
  barePort: number;
  sink: string;
  loud: Shop;
  neighbour: Record<NeighbourKind, WriteShop>;
};

export async function setScene(stage: Stage): Promise<Scene> {
  const delayFile = join(stage.dir, 'loop-delay.json');
  const env = {
    ROLES: 'api,worker',
    WEBHOOK_PRIVATE_TARGETS: 'on',
    SECRET_KEYS: SECRET_KEY,
    LOOP_DELAY_FILE: delayFile,
  };
  const service = await stage.startService(env, 'load/loop-delay.ts');
  const { context, link } = await openBackDoor(service);
  const port = await freePort();
  await stage.startScript('load/sink.ts', [String(port)]);
  const sink = `http://127.0.0.1:${port}`;
  const shopOf = async () => {
    const shop = await makeShop(context, LISTINGS);
    const tools = { guard: createSsrfGuard(true), encryption: createSecretEncryption([SECRET_KEY]) };
    await setUrl(context.db, COMMAND_LINE, tools, shop.integrationId, `${sink}/hook`);
    return { ...shop, orderIds: [] };
  };
  const loud = await shopOf();
  const [reader, writer, pinger] = [await shopOf(), await shopOf(), await shopOf()];
  await context.db.query(sql`update items set units = ${UNITS}`);
  const neighbour = { 'read by id': reader, 'page of 50, not kept': writer, order: writer, webhook: pinger };
  await preparePlainTables(context, [loud]);
  const address = link.embedded?.address as SocketAddress;
  // How many clients pgbench is fastest with is tried at its first call, which must not be while somebody is measured.
  for (const write of ['order', 'event'] as const) {
    await writePlainly(write, { dir: stage.dir, address, shopCount: 1, seconds: 1 });
  }
  const { port: barePort } = await stage.startBareServer(await bodiesOf(service.port, loud));
  return { stage, service, delayFile, context, link, address, barePort, sink, loud, neighbour };
}

async function bodiesOf(port: number, { apiKey, listingIds }: Shop): Promise<Record<string, string>> {
  const headers = { authorization: `Bearer ${apiKey}` };
  const bodies: Record<string, string> = {};
  for (const path of listingIds.map(pathOf)) {
    bodies[path] = await (await fetch(`http://127.0.0.1:${port}${path}`, { headers })).text();
  }
  return bodies;
}

/** What the event loop kept waiting since the last call. */
export async function takeLoopDelay({ service, delayFile }: Scene): Promise<LoopDelay> {
  await rm(delayFile, { force: true });
  service.process.kill('SIGUSR2');
  const limitAt = performance.now() + DELAY_LIMIT_MS;
  for (;;) {
    const text = await readFile(delayFile, 'utf8').catch(() => '');
    if (text !== '') return JSON.parse(text) as LoopDelay;
    if (performance.now() > limitAt) throw new Error('the service did not say how long its event loop was busy');
    await sleep(20);
  }
}

/** Of a listing, as clients read it. */
export function pathOf(listingId: string): string {
  return `/api/v1/listings/${listingId}`;
}
