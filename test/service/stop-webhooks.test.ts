import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../src/db/database.ts';
import { startEmbedded } from '../../src/db/embedded/embedded.ts';
import { sql } from '../../src/db/sql.ts';
import { setUrl } from '../../src/webhooks/endpoints/endpoint-settings.ts';
import { createSecretEncryption } from '../../src/webhooks/endpoints/secret-encryption.ts';
import { TESTER } from '../harness/actor.ts';
import { rawSocket } from '../harness/http/raw-socket.ts';
import { type Receiver, startReceiver } from '../harness/servers/receiver.ts';
import { guard, queueEvents } from '../harness/webhooks/webhook-world.ts';
import { DEMO_KEY, databaseIn, seededFolder, startService, sweep, until } from './service-process.ts';

/** Longer than a worker's poll. */
const LOOK_MS = 2_000;

describe('webhooks when the service is stopped', () => {
  let receiver: Receiver;
  let db: Database;

  before(async () => {
    receiver = await startReceiver();
  });
  after(async () => {
    await db?.close().catch(() => {});
    await receiver.stop();
    await sweep();
  });

  it('are claimed no more from the signal on, however long requests take to finish; an attempt under way ends', async (t) => {
    const dataDir = await seededFolder();
    const secretKey = (await readFile(join(dataDir, 'secret-keys'), 'utf8')).trim();
    const service = await startService({ env: { DATA_DIR: dataDir } });
    await service.isHealthy();
    db = databaseIn(dataDir);
    const [first] = await db.query<{ id: string }>(sql`select id from integrations order by id limit 1`);
    const integrationId = first?.id ?? '';
    await setUrl(db, TESTER, { guard, encryption: createSecretEncryption([secretKey]) }, integrationId, receiver.url);
    const queue = () =>
      queueEvents({ db, channel: { now: () => null, onEvents: () => {} } }, { integrationId }, 1).then(([id]) => id);

    let answer = () => {};
    receiver.answer = (response) => {
      answer = () => response.writeHead(200).end();
    };
    const underWay = await queue();
    await receiver.until(1);
    const upload = rawSocket(Number(new URL(service.origin).port));
    upload.write(
      `POST /api/v1/orders HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${DEMO_KEY}\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\n`,
    );
    await until(
      () => upload.rest().startsWith('HTTP/1.1 100 '),
      () => 'the upload did not begin',
    );
    service.signal('SIGTERM');
    await service.says('Stopping');
    await sleep(LOOK_MS);
    const late = await queue();
    await sleep(LOOK_MS);
    assert.equal(service.hasExited(), false, 'the upload did not keep it');
    assert.equal(receiver.received.length, 1, 'a delivery was claimed during the stop');
    answer();
    await db.close();
    upload.close();
    assert.equal(await service.exit(), 0, service.err());

    const server = await startEmbedded({ dataDir, isExclusive: true, onProgress: () => {} });
    t.after(() => server.stop());
    db = databaseIn(dataDir);
    const rows = await db.query<{ id: string; status: string; dispatches: number }>(sql`
      select id, status, dispatches from deliveries
      where integration_id = ${integrationId} and id = any(${[underWay, late]}::text[]) order by id`);
    assert.deepEqual(
      rows.map(({ id, status, dispatches }) => [id, status, dispatches]),
      [
        [underWay, 'succeeded', 1],
        [late, 'pending', 0],
      ],
    );
    await db.close();
  });
});
