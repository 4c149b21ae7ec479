import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { request } from 'undici';
import { TESTER } from '../../../../test/harness/actor.ts';
import { publishNew, watch } from '../../../../test/harness/stock.ts';
import { type Dealer, startWorld, type World } from '../../../../test/harness/world.ts';
import { setEnabled, setRateLimit } from '../../../dealers/integrations/integrations.ts';
import { editItem } from '../../../inventory/items/item-operations.ts';

/** What differs between two answers by nature. */
const VARYING = ['date', 'x-request-id', 'x-ratelimit-remaining', 'x-ratelimit-reset'];

describe('a cached read on the fast path', () => {
  let world: World;
  let dealer: Dealer;
  let id: string;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());
  beforeEach(async () => {
    dealer = await world.dealer();
    id = await publishNew(world, dealer, watch());
  });

  async function get(path: string, encoding: string, etag?: string) {
    const { statusCode, headers, body } = await request(`${world.origin}/api${path}`, {
      headers: {
        authorization: `Bearer ${dealer.apiKey}`,
        'accept-encoding': encoding,
        ...(etag === undefined ? {} : { 'if-none-match': etag }),
      },
    });
    const bytes = Buffer.from(await body.arrayBuffer()).toString('base64');
    const fixed = Object.fromEntries(Object.entries(headers).filter(([name]) => !VARYING.includes(name)));
    return { answer: { status: statusCode, headers: fixed, bytes }, headers };
  }

  it('is answered with the status, headers and bytes of the framework', async () => {
    for (const path of [`/v1/listings/${id}`, '/v1/listings?limit=10', '/v1/parts', `/v1/listings?ids=${id}`]) {
      for (const encoding of ['identity', 'br', 'gzip']) {
        // The first answer is built, the second is cached.
        const built = await get(path, encoding);
        const cached = await get(path, encoding);
        assert.equal(built.answer.status, 200);
        assert.deepEqual(cached.answer, built.answer, path);
        assert.notEqual(cached.headers['x-request-id'], built.headers['x-request-id']);
        const tokens = [built, cached].map(({ headers }) => Number(headers['x-ratelimit-remaining']));
        assert.equal(tokens[1], (tokens[0] ?? 0) - 1, 'one token for each');
        const { answer } = await get(path, encoding, String(built.headers.etag));
        assert.deepEqual([answer.status, answer.bytes, answer.headers.etag], [304, '', built.headers.etag]);
        assert.equal(answer.headers['content-type'], undefined);
      }
    }
  });

  it('is the new answer from the next request after a change on', async () => {
    const path = `/v1/listings/${id}`;
    await dealer.api.get(path);
    await editItem(world.channel, TESTER, dealer.organizationId, id, { title: 'Changed' });
    assert.equal((await dealer.api.get(path)).body.title, 'Changed');
    assert.equal((await dealer.api.get(path)).body.title, 'Changed');
  });

  it('is refused like any other when the integration is disabled', async () => {
    const path = `/v1/listings/${id}`;
    await dealer.api.get(path);
    await setEnabled(world.db, TESTER, dealer.integrationId, false);
    const refused = await dealer.api.get(path);
    assert.deepEqual([refused.status, refused.body.error.code], [403, 'integration_disabled']);
  });

  it('spends one token also when the framework refuses it', async () => {
    const path = `/v1/listings/${id}`;
    await setRateLimit(world.db, TESTER, dealer.integrationId, 10);
    const statuses: number[] = [];
    for (let count = 0; count < 12; count++) statuses.push((await dealer.api.get(path)).status);
    assert.deepEqual(statuses, [...Array(10).fill(200), 429, 429]);
  });

  it('is never the answer to another integration, which can not read the item', async () => {
    const path = `/v1/listings/${id}`;
    await dealer.api.get(path);
    const other = await world.dealer();
    assert.equal((await other.api.get(path)).status, 404);
    assert.equal((await other.api.get(path)).status, 404);
  });

  it('names ignored parameters each time', async () => {
    for (let count = 0; count < 3; count++) {
      const { headers } = await dealer.api.get('/v1/listings?limit=5&updated_afer=x');
      assert.equal(headers['x-ignored-fields'], 'updated_afer');
    }
  });
});
