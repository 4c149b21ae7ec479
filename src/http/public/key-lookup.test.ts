import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { TESTER } from '../../../test/harness/actor.ts';
import { cloneDatabase } from '../../../test/harness/database/database.ts';
import { until as untilTrue } from '../../../test/harness/database/locks.ts';
import { type Dealer, startWorld, type World } from '../../../test/harness/world.ts';
import type { Database } from '../../db/database.ts';
import { setEnabled } from '../../dealers/integrations/integrations.ts';

describe('the lookup of keys', () => {
  let world: World;
  let dealer: Dealer;
  /** Each lookup that really ran; its answer is held back until released. */
  let lookups: { release(): void; fail(error: Error): void }[];
  let isHolding: boolean;
  let arrived: number;

  beforeEach(async () => {
    lookups = [];
    isHolding = true;
    arrived = 0;
    const database = await cloneDatabase();
    world = await startWorld({ database, db: watched(database.db) });
    world.app.server.prependListener('request', () => {
      arrived += 1;
    });
    dealer = await world.dealer();
  });
  afterEach(() => world.stop());

  /** The same database; the lookups of keys on it can be counted and held. */
  function watched(db: Database): Database {
    return {
      ...db,
      async query(statement, limits) {
        const rows = await db.query<never>(statement, limits);
        if (!/key_hash = (any|\$)/.test(statement.text)) return rows;
        await new Promise<void>((resolve, reject) => {
          lookups.push({ release: resolve, fail: reject });
          if (!isHolding) resolve();
        });
        return rows;
      },
    };
  }

  async function until(condition: () => boolean): Promise<void> {
    await untilTrue(() => Promise.resolve(condition()), 'the lookups are not as expected');
  }

  const request = () => dealer.api.get('/v1/me');

  it('is one statement for all requests that arrive while another is under way', async () => {
    const first = request();
    await until(() => lookups.length === 1);
    const others = Array.from({ length: 50 }, request);
    await until(() => arrived === 51);
    isHolding = false;
    lookups[0]?.release();
    const answers = await Promise.all([first, ...others]);
    assert.ok(answers.every((answer) => answer.status === 200));
    assert.equal(lookups.length, 2);
  });

  it('never began before the request arrived: it sees all that was committed by then', async () => {
    const early = request();
    await until(() => lookups.length === 1);
    await setEnabled(world.db, TESTER, dealer.integrationId, false);
    const late = request();
    await until(() => arrived === 2);
    isHolding = false;
    lookups[0]?.release();
    assert.equal((await early).status, 200);
    assert.equal((await late).body.error.code, 'integration_disabled');
    assert.equal(lookups.length, 2);
  });

  it('fails alone: its requests answer auth_lookup_failed, the next ones are served', async () => {
    const doomed = request();
    await until(() => lookups.length === 1);
    const next = request();
    await until(() => arrived === 2);
    isHolding = false;
    lookups[0]?.fail(new Error('connection lost'));
    assert.equal((await doomed).body.error.code, 'auth_lookup_failed');
    assert.equal((await next).status, 200);
  });

  it('keeps apart the keys that it looks up together', async () => {
    const other = await world.dealer();
    const first = request();
    await until(() => lookups.length === 1);
    const together = [request(), other.api.get('/v1/me'), world.client(`svc_${'0'.repeat(32)}`).get('/v1/me')];
    await until(() => arrived === 4);
    isHolding = false;
    lookups[0]?.release();
    await first;
    const [mine, theirs, nobodys] = await Promise.all(together);
    assert.equal(mine?.body.id, dealer.integrationId);
    assert.equal(theirs?.body.id, other.integrationId);
    assert.equal(nobodys?.body.error.code, 'invalid_api_key');
    assert.equal(lookups.length, 2);
  });
});
