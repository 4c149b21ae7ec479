import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../test/harness/actor.ts';
import { exchange } from '../../../test/harness/http/api-client.ts';
import { type Dealer, startWorld, type World } from '../../../test/harness/world.ts';
import { BODY_LIMIT_BYTES, IDEMPOTENCY_KEY_LENGTH_LIMIT } from '../../contract/limits.ts';
import { setOrganization } from '../../dealers/integrations/attach-integration.ts';
import { setEnabled, setRateLimit } from '../../dealers/integrations/integrations.ts';
import { setPlan, setProvisioned } from '../../dealers/organizations.ts';

describe('the order of checks', () => {
  let world: World;
  let dealer: Dealer;
  before(async () => {
    world = await startWorld();
    dealer = await world.dealer();
  });
  after(() => world.stop());

  type Attempt = { path: string; headers: Record<string, string>; body: string };

  async function send({ path, headers, body }: Attempt) {
    return await exchange(`${world.origin}/api${path}`, { method: 'POST', headers, body });
  }

  it('lets the first check that fails answer, whatever else is wrong with the request', async () => {
    const { db } = world;
    const { integrationId, organizationId, apiKey } = dealer;
    // Everything is wrong at first; each step mends what the answer before it named.
    const attempt: Attempt = { path: '/v1/nothing', headers: {}, body: 'x'.repeat(BODY_LIMIT_BYTES + 1) };
    const answersWith = async (code: string | undefined) => {
      const { body } = await send(attempt);
      assert.equal(body.error?.code, code);
    };
    await setPlan(db, TESTER, organizationId, false);
    await setProvisioned(db, TESTER, organizationId, false);
    await setEnabled(db, TESTER, integrationId, false);
    await setOrganization(db, TESTER, integrationId, null);
    await setRateLimit(db, TESTER, integrationId, 10);
    for (let spent = 0; spent < 10; spent++) await dealer.api.get('/v1/me');

    await answersWith('missing_authorization');
    attempt.headers.authorization = 'Bearer nonsense';
    await answersWith('malformed_authorization');
    attempt.headers.authorization = `Bearer svc_${'0'.repeat(32)}`;
    await answersWith('invalid_api_key');
    attempt.headers.authorization = `Bearer ${apiKey}`;
    await answersWith('too_many_requests');
    await setRateLimit(db, TESTER, integrationId, null);
    await answersWith('route_not_found');
    attempt.path = '/v1/me';
    await answersWith('method_not_allowed');
    attempt.path = '/v1/orders';
    await answersWith('integration_org_missing');
    await setOrganization(db, TESTER, integrationId, organizationId);
    await answersWith('integration_disabled');
    await setEnabled(db, TESTER, integrationId, true);
    await answersWith('integration_not_provisioned');
    await setProvisioned(db, TESTER, organizationId, true);
    await answersWith('subscription_required');
    await setPlan(db, TESTER, organizationId, true);
    await answersWith('missing_idempotency_key');
    attempt.headers['idempotency-key'] = 'order-of-checks';
    await answersWith('request_too_large');
    attempt.body = 'not JSON';
    await answersWith('invalid_json');
    attempt.headers['content-type'] = 'application/json';
    await answersWith('invalid_json');
    attempt.body = '{"channel_order_id":5}';
    await answersWith('invalid_request');
    attempt.body = '{"channel_order_id":"SO-1"}';
    await answersWith(undefined);
    // The schema is checked before the key is remembered, and the key before the operation.
    attempt.body = '{"channel_order_id":5}';
    await answersWith('invalid_request');
    attempt.body = '{"channel_order_id":"SO-2"}';
    await answersWith('key_reused_with_different_body');
    attempt.headers['idempotency-key'] = 'another';
    attempt.body = '{"channel_order_id":"SO-1"}';
    await answersWith('duplicate_channel_order_id');
  });

  for (const [name, key, code] of [
    ['none', undefined, 'missing_idempotency_key'],
    ['an empty one', '', 'missing_idempotency_key'],
    ['one that is too long', 'k'.repeat(IDEMPOTENCY_KEY_LENGTH_LIMIT + 1), 'invalid_request'],
    ['one with a tab', 'a\tb', 'invalid_request'],
    ['one with an umlaut', 'schlüssel', 'invalid_request'],
    ['the longest', 'k'.repeat(IDEMPOTENCY_KEY_LENGTH_LIMIT), undefined],
    ['one character', '~', undefined],
    ['one with spaces', 'a key of words', undefined],
  ] as const) {
    it(`takes an Idempotency-Key of 1 to 255 printable ASCII characters: ${name}`, async () => {
      const headers: Record<string, string> = {
        authorization: `Bearer ${dealer.apiKey}`,
        'content-type': 'application/json',
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      };
      const { status, body } = await send({ path: '/v1/orders', headers, body: `{"channel_order_id":"${name}"}` });
      assert.equal(body.error?.code, code);
      if (code === undefined) assert.equal(status, 201);
      else assert.equal(body.error.param, 'Idempotency-Key');
    });
  }
});
