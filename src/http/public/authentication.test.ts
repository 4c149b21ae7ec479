import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../test/harness/actor.ts';
import { startWorld, type World } from '../../../test/harness/world.ts';
import { deleteIntegration } from '../../dealers/deletions.ts';
import { newApiKey } from '../../dealers/integrations/api-keys.ts';
import { setOrganization } from '../../dealers/integrations/attach-integration.ts';
import { setEnabled } from '../../dealers/integrations/integrations.ts';
import { rotateApiKey } from '../../dealers/integrations/rotate-api-key.ts';
import { setPlan, setProvisioned } from '../../dealers/organizations.ts';

describe('authentication', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  const rateHeaders = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];

  async function assertUncounted(authorization: string | null, code: string): Promise<void> {
    const headers = authorization === null ? {} : { authorization };
    const response = await world.client(null).get('/v1/me', headers);
    assert.equal(response.status, 401);
    assert.equal(response.body.error.code, code);
    assert.equal(response.body.error.type, 'authentication_error');
    for (const name of rateHeaders) assert.equal(response.headers[name], undefined);
    assert.equal(response.headers['x-api-version'], '2026-05-07');
  }

  it('answers missing_authorization without the header', () => assertUncounted(null, 'missing_authorization'));

  for (const header of [
    '',
    'Bearer',
    'Bearer ',
    'Basic dXNlcjpwYXNz',
    `Token ${newApiKey()}`,
    `Bearer key_${newApiKey().slice(4)}`,
    `Bearer ${newApiKey().slice(0, -1)}`,
    `Bearer ${newApiKey()}x`,
    `Bearer ${newApiKey().slice(0, -1)}-`,
    `Bearer ${newApiKey()} more`,
    newApiKey(),
  ]) {
    const shown = header.replace(/[A-Za-z0-9]{31,}/, '…');
    it(`answers malformed_authorization to "${shown}"`, () => assertUncounted(header, 'malformed_authorization'));
  }

  it('answers invalid_api_key to a well-formed key that nobody has', () =>
    assertUncounted(`Bearer ${newApiKey()}`, 'invalid_api_key'));

  it('takes the scheme in any case, the key only as it is', async () => {
    const { apiKey } = await world.dealer();
    const lower = await world.client(null).get('/v1/me', { authorization: `bearer ${apiKey}` });
    assert.equal(lower.status, 200);
    const swapped = apiKey
      .slice(4)
      .replace(/[a-zA-Z]/g, (c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase()));
    await assertUncounted(`Bearer svc_${swapped}`, 'invalid_api_key');
  });

  it('knows a regenerated or deleted key no more from the next request on', async () => {
    const dealer = await world.dealer();
    const fresh = await rotateApiKey(world.db, TESTER, dealer.integrationId);
    assert.ok(fresh);
    await assertUncounted(`Bearer ${dealer.apiKey}`, 'invalid_api_key');
    assert.equal((await world.client(fresh).get('/v1/me')).status, 200);
    await deleteIntegration(world.db, TESTER, dealer.integrationId);
    await assertUncounted(`Bearer ${fresh}`, 'invalid_api_key');
  });

  it('answers each 403 in its order, counted, and serves again as soon as its cause is gone', async () => {
    const dealer = await world.dealer();
    let remaining = 600;
    async function assertAnswer(status: number, code: string | undefined): Promise<void> {
      const response = await dealer.api.get('/v1/me');
      assert.equal(response.status, status);
      assert.equal(response.body.error?.code, code);
      if (code !== undefined) assert.equal(response.body.error.type, 'permission_error');
      remaining -= 1;
      assert.equal(response.headers['x-ratelimit-remaining'], String(remaining));
      assert.equal(response.headers['x-ratelimit-limit'], '600');
    }
    await assertAnswer(200, undefined);
    await setPlan(world.db, TESTER, dealer.organizationId, false);
    await assertAnswer(403, 'subscription_required');
    await setProvisioned(world.db, TESTER, dealer.organizationId, false);
    await assertAnswer(403, 'integration_not_provisioned');
    await setEnabled(world.db, TESTER, dealer.integrationId, false);
    await assertAnswer(403, 'integration_disabled');
    await setOrganization(world.db, TESTER, dealer.integrationId, null);
    await assertAnswer(403, 'integration_org_missing');
    await setOrganization(world.db, TESTER, dealer.integrationId, dealer.organizationId);
    await setEnabled(world.db, TESTER, dealer.integrationId, true);
    await setProvisioned(world.db, TESTER, dealer.organizationId, true);
    await setPlan(world.db, TESTER, dealer.organizationId, true);
    await assertAnswer(200, undefined);
  });

  it('describes the integration at /v1/me', async () => {
    const dealer = await world.dealer();
    const { status, body, headers } = await dealer.api.get('/v1/me');
    assert.equal(status, 200);
    assert.deepEqual(body, {
      object: 'integration',
      id: dealer.integrationId,
      user_id: dealer.userId,
      organization_id: dealer.organizationId,
      name: 'Website',
      is_enabled: true,
      is_test_mode: false,
      api_version: '2026-05-07',
      currency: 'USD',
      subscribed_events: ['*'],
      rate_limit: { limit: 600 },
      webhook: {
        url: null,
        is_enabled: true,
        last_success_at: null,
        last_failure_at: null,
        consecutive_failures: 0,
      },
    });
    assert.match(headers['x-request-id'] ?? '', /^req_[0-9a-f]{32}$/);
  });
});
