import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from '../../../src/db/database.ts';
import { rawSql } from '../../../src/db/sql.ts';
import { SERVER_VARIABLE, TEMPLATE_DATABASE } from '../../harness/database/database.ts';
import { freePort, startService, statusOf, sweep, temporaryFolder, until } from '../service-process.ts';

const KEY = 'svc_0123456789abcdefghijABCDEFGHIJ01';
/** Several rounds of each worker. */
const ROUNDS_MS = 4_000;

after(sweep);

it('an outage of the database is one line in the log, and one when it is over', async (t) => {
  const server = JSON.parse(process.env[SERVER_VARIABLE] ?? '{}') as { socketDir: string; user: string };
  const name = `test_outage_${randomBytes(4).toString('hex')}`;
  const admin = openDatabase({ address: { ...server, database: 'postgres' }, poolSize: 1, onIdleError: () => {} });
  await admin.query(rawSql(`create database ${name} template ${TEMPLATE_DATABASE}`));
  t.after(async () => {
    await sweep();
    await admin.query(rawSql(`drop database ${name} with (force)`));
    await admin.close();
  });
  const port = await freePort();
  const line = await openLine(port, join(server.socketDir, '.s.PGSQL.5432'));
  t.after(line.cut);
  const service = await startService({
    env: {
      DATA_DIR: await temporaryFolder(),
      DATABASE_URL: `postgresql://${server.user}@127.0.0.1:${port}/${name}`,
      SECRET_KEYS: 'a-secret-key-of-at-least-thirty-two-characters',
      DEMO: 'on',
      DEMO_API_KEY: KEY,
    },
  });
  await service.says('Stop:');
  const headers = { authorization: `Bearer ${KEY}` };
  const ready = () => statusOf(`${service.origin}/api/v1/ready`);
  const saysInLog = (text: string) =>
    until(
      () => service.err().includes(text),
      () => `the log never said "${text}": ${service.err()}`,
    );
  assert.equal(await statusOf(`${service.origin}/api/v1/me`, headers), 200);

  line.cut();
  await until(
    async () => (await ready()) === 503,
    () => 'it stayed ready',
  );
  await saysInLog('the database does not answer');
  const refused = await fetch(`${service.origin}/api/v1/listings`, { headers });
  const { error } = (await refused.json()) as { error: { code: string } };
  assert.deepEqual([refused.status, error.code], [401, 'auth_lookup_failed']);
  assert.equal(await statusOf(`${service.origin}/api/v1/health`), 200);
  await sleep(ROUNDS_MS);
  await line.open();
  await saysInLog('the database answers again');
  await until(
    async () => (await ready()) === 200,
    () => 'it never was ready again',
  );
  service.signal('SIGTERM');
  assert.equal(await service.exit(), 0, service.err());

  const lines = service.err().split('\n').filter(Boolean);
  const others = lines.map((text) => JSON.parse(text)).filter(({ requestId }) => requestId === undefined);
  assert.deepEqual(
    others.filter(({ level, msg }) => level !== 'info' || /database/.test(msg)).map(({ level, msg }) => [level, msg]),
    [
      ['error', 'the database does not answer: requests fail, and the work in the background waits until it is back'],
      ['info', 'the database answers again'],
    ],
  );
});

/** A line to the server that can be cut. */
async function openLine(port: number, socketPath: string) {
  let server: Server | null = null;
  const sockets = new Set<Socket>();
  const hold = (socket: Socket) => {
    sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)));
  };
  async function open(): Promise<void> {
    server = createServer((near) => {
      const far = connect(socketPath);
      hold(near);
      hold(far);
      near.pipe(far).pipe(near);
    }).listen(port, '127.0.0.1');
    await once(server, 'listening');
  }
  function cut(): void {
    server?.close();
    for (const socket of sockets) socket.destroy();
  }
  await open();
  return { open, cut };
}
