import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { TESTER } from '../../test/harness/actor.ts';
import { commandLine, settingsFor } from '../../test/harness/command-line.ts';
import { part, publishNew, watch } from '../../test/harness/stock.ts';
import { type Dealer, startWorld, type World } from '../../test/harness/world.ts';
import { runJobs } from '../channel/jobs/run-jobs.ts';
import { rollVersion } from '../channel/roll-version.ts';
import type { Config } from '../config.ts';
import { CURRENT_VERSION, VERSIONS } from '../contract/versions.ts';
import { createIntegration } from '../dealers/integrations/integrations.ts';
import { newId } from '../ids/new-id.ts';
import { runDeletions } from '../sales/deletion/run-deletions.ts';

describe('commands that change channels', () => {
  let world: World;
  let settings: Config;
  let dealer: Dealer;
  const { run, json, refusal } = commandLine(() => settings);

  before(async () => {
    world = await startWorld();
    settings = settingsFor(world);
  });
  beforeEach(async () => {
    dealer = await world.dealer();
  });
  after(() => world.stop());

  it('"rates" makes a channel in another currency readable, and unreadable again', async () => {
    const { id: integrationId, apiKey } = await createIntegration(world.db, TESTER, {
      organizationId: dealer.organizationId,
      userId: null,
      name: 'Abroad',
      currency: 'EUR',
      isTestMode: false,
      isForced: true,
    });
    const abroad = { ...dealer, integrationId, api: world.client(apiKey) };
    const id = await publishNew(world, abroad, watch({ priceAmount: 1_000_000 }));
    for (const path of [`/v1/listings/${id}`, '/v1/listings']) {
      const { status, body } = await abroad.api.get(path);
      assert.deepEqual([status, body.error.code], [500, 'query_failed']);
    }

    assert.deepEqual(await json('rates', 'set', 'usd', 'EUR', '0.920'), {
      object: 'rate',
      base: 'USD',
      quote: 'EUR',
      rate: '0.92',
      replaced: null,
      repriced_channels: 1,
    });
    const { data } = await json('rates', 'list');
    assert.deepEqual(data, [{ object: 'rate', base: 'USD', quote: 'EUR', rate: '0.92' }]);
    assert.match((await run('rates', 'list')).out, /^BASE +QUOTE +RATE\nUSD +EUR +0\.92\n$/);
    await runJobs(world.channel);
    assert.deepEqual((await abroad.api.get(`/v1/listings/${id}`)).body.price, {
      amount: 920_000,
      amount_formatted: '€9,200.00',
      currency: 'EUR',
    });

    assert.match(
      await refusal('rates', 'remove', 'USD', 'EUR'),
      new RegExp(`^${integrationId} needs the rate USD/EUR to price anything\\. Add --force`),
    );
    assert.equal((await abroad.api.get('/v1/listings')).status, 200);
    assert.match(
      (await run('rates', 'remove', 'USD', 'EUR', '--force')).out,
      /is deleted\.\n1 channel is left without prices, of 1 dealer\. A service with the role worker carries/,
    );
    await runJobs(world.channel);
    assert.equal((await abroad.api.get('/v1/listings')).body.error.code, 'query_failed');
    assert.match(await refusal('rates', 'remove', 'USD', 'EUR'), /no rate from USD to EUR/);
    await json('integration', 'presentation', integrationId, '--currency', 'USD');
    assert.match(await refusal('rates', 'set', 'USD', 'XXQ', '1'), /not a currency/);
    assert.match(await refusal('rates', 'set', 'USD', 'EUR', '0'), /positive decimal/);
    assert.match(await refusal('rates', 'set', 'USD', 'usd', '1'), /no rate to itself/);
  });

  it('"rates set" says what it replaced, also the opposite direction, and whose channels are repriced', async () => {
    assert.match(
      (await run('rates', 'set', 'SEK', 'NOK', '1.1')).out,
      /^One SEK is 1\.1 NOK now\.\nNo channel converts/,
    );
    assert.deepEqual((await json('rates', 'set', 'NOK', 'SEK', '0.9')).replaced, {
      object: 'rate',
      base: 'SEK',
      quote: 'NOK',
      rate: '1.1',
    });
    await json('rates', 'set', 'USD', 'SEK', '9.5');
    const other = await world.dealer();
    for (const { integrationId } of [dealer, other]) {
      await json('integration', 'presentation', integrationId, '--currency', 'SEK');
    }
    const { out } = await run('rates', 'set', 'SEK', 'USD', '0.11');
    assert.match(
      out,
      /^One SEK is 0\.11 USD now\. This replaces .*: one USD was 9\.5 SEK\.\n2 channels are repriced, of 2 dealers\./,
    );
    const commands = out.match(/(?<=crownwheel -- ).*/g) ?? [];
    assert.equal(commands.length, 2);
    for (const command of commands) {
      const [job] = (await json(...command.split(' '))).data;
      assert.match(job.reasons.join(), /SEK/, 'the command that is printed works as it is');
    }
    for (const { integrationId } of [dealer, other]) {
      await json('integration', 'presentation', integrationId, '--currency', 'USD');
    }
    for (const pair of [
      ['NOK', 'SEK'],
      ['SEK', 'USD'],
    ])
      await json('rates', 'remove', ...pair);
    await runJobs(world.channel);
  });

  it('a currency without an exchange rate is refused with the pair named, unless it is forced', async () => {
    const { organizationId, integrationId, api } = await world.dealer();
    const missing = /^There is no exchange rate for USD\/JPY, so that nothing could be priced\. .*--force/;
    const change = ['integration', 'presentation', integrationId, '--currency', 'JPY'];
    const create = ['integration', 'create', '--organization', organizationId, '--name', 'W', '--currency', 'JPY'];
    assert.match(await refusal(...change), missing);
    assert.match(await refusal(...create), missing);
    assert.equal((await json('integration', 'presentation', integrationId)).currency, 'USD');
    assert.equal((await api.get('/v1/listings')).status, 200);

    const made = await json(...create, '--force');
    await json('integration', 'detach', made.id);
    assert.match(await refusal('integration', 'attach', made.id, organizationId), missing);
    await json('integration', 'attach', made.id, organizationId, '--force');
    assert.equal((await json(...change, '--force')).currency, 'JPY');
    // The opposite direction serves as well.
    await json('rates', 'set', 'JPY', 'USD', '0.0066');
    await json('integration', 'presentation', integrationId, '--currency', 'USD');
    await json(...change);
    await json('rates', 'remove', 'JPY', 'USD', '--force');
    await json('integration', 'delete', made.id, '--yes');
    await json('integration', 'presentation', integrationId, '--currency', 'USD');
  });

  it('"integration presentation" shows how a channel shows things, changes it, and "jobs list" prints its progress', async () => {
    const listing = await publishNew(world, dealer, watch({ priceAmount: 1_000_000 }));
    await publishNew(world, dealer, part());
    const shown = {
      object: 'presentation',
      integration_id: dealer.integrationId,
      currency: 'USD',
      markup_basis_points: 0,
      rounding: 'none',
      image_format: 'jpeg',
    };
    assert.deepEqual(await json('integration', 'presentation', dealer.integrationId), shown);
    const jobs = async () => (await json('jobs', 'list', '--organization', dealer.organizationId)).data;
    assert.deepEqual(await jobs(), []);
    assert.match((await run('jobs', 'list', '--organization', dealer.organizationId)).out, /^No jobs/);

    const changed = await json(
      'integration',
      'presentation',
      dealer.integrationId,
      '--markup',
      '-2.5',
      '--rounding',
      'to_10',
      '--image-format',
      'avif',
    );
    assert.deepEqual(changed, { ...shown, markup_basis_points: -250, rounding: 'to_10', image_format: 'avif' });
    const [waiting, ...none] = await jobs();
    assert.deepEqual(none, []);
    assert.deepEqual(
      { ...waiting, id: 'job_' },
      {
        object: 'job',
        id: 'job_',
        integration_id: dealer.integrationId,
        kind: 'refresh',
        reasons: ['markupBasisPoints, rounding, imageFormat'],
        status: 'pending',
        done: 0,
        total: 2,
        error: null,
      },
    );
    const { out } = await run('jobs', 'list', '--organization', dealer.organizationId);
    assert.match(out, /0 of 2 \(0 %\) +markup, rounding, image format\n/);
    await runJobs(world.channel);
    const [finished] = await jobs();
    assert.deepEqual([finished.status, finished.done], ['done', 2]);
    assert.match((await run('jobs', 'list', '--organization', dealer.organizationId)).out, /done +2, all/);
    assert.equal((await dealer.api.get(`/v1/listings/${listing}`)).body.price.amount, 975_000);

    const { integrationId } = dealer;
    assert.match(await refusal('integration', 'presentation', integrationId, '--markup', '1,5'), /percentage/);
    assert.match(
      await refusal('integration', 'presentation', integrationId, '--markup', '2000'),
      /from -99 % to 1000 %/,
    );
    assert.match(await refusal('integration', 'presentation', integrationId, '--rounding', 'up'), /Allowed choices/);
    assert.match(await refusal('integration', 'presentation', integrationId, '--currency', 'ABC'), /not a currency/);
    assert.match(
      await refusal('integration', 'presentation', newId('integration'), '--currency', 'EUR'),
      /no integration/,
    );
    assert.match(await refusal('jobs', 'list', '--organization', newId('organization')), /no organization/);
  });

  it('"integration roll" knows the versions there are', async () => {
    const { integrationId } = dealer;
    assert.deepEqual(await json('integration', 'roll', integrationId, CURRENT_VERSION), {
      object: 'integration',
      id: integrationId,
      api_version: CURRENT_VERSION,
      rolling_to_version: null,
    });
    assert.match((await run('integration', 'roll', integrationId, CURRENT_VERSION)).out, /already uses 2026-05-07/);
    assert.match(await refusal('integration', 'roll', integrationId, '2020-01-01'), /no version 2020-01-01/);
    assert.match(await refusal('integration', 'roll', newId('integration'), CURRENT_VERSION), /no integration/);
  });

  it('"jobs list" shows a roll with its version and how far it is', async () => {
    await publishNew(world, dealer, watch());
    await publishNew(world, dealer, part());
    const next = '2030-01-01';
    const context = {
      ...world.channel,
      versions: [...VERSIONS, { date: next, present: (document: Record<string, unknown>) => document }],
    };
    await rollVersion(context, TESTER, dealer.integrationId, next);
    const list = async () => (await run('jobs', 'list', '--organization', dealer.organizationId)).out;
    assert.match(await list(), /\njob_\w+ +int_\w+ +roll +pending +0 of 2 \(0 %\) +version 2030-01-01\n$/);
    await runJobs(context);
    assert.match(await list(), / roll +done +2, all +version 2030-01-01\n$/);
  });

  it('"generate" makes a dealer or uses one, and says where the listings are', async () => {
    const made = await json('generate', '--listings', '3');
    const listed = await world.client(made.api_key).get('/v1/listings');
    assert.equal(listed.body.data.length, 3);

    const channel = ['--organization', dealer.organizationId, '--integration', dealer.integrationId];
    const text = (await run('generate', '--listings', '2', ...channel)).out;
    assert.match(text, /^2 listings are published/);
    assert.doesNotMatch(text, /svc_/);
    assert.equal((await dealer.api.get('/v1/listings')).body.data.length, 2);
    await json('generate', '--listings', '1', ...channel);
    assert.equal((await dealer.api.get('/v1/listings')).body.data.length, 3);

    const other = await world.dealer();
    const wrong = ['--organization', other.organizationId, '--integration', dealer.integrationId];
    assert.match(await refusal('generate', '--listings', '1', ...wrong), /no integration/);
    assert.match(
      await refusal('generate', '--listings', '1', '--organization', newId('organization')),
      /no organization/,
    );
    assert.match(await refusal('generate', '--listings', '0'), /whole number from 1/);
  });

  it('"organization delete" asks for --yes; then the dealer is unknown, and "jobs list" shows its removal to the end', async () => {
    const dealer = await world.dealer();
    const id = dealer.organizationId;
    assert.match(await refusal('organization', 'delete', id), /add --yes/);
    assert.deepEqual(await json('organization', 'delete', id, '--yes'), { object: 'organization', id, deleted: true });
    assert.equal((await dealer.api.get('/v1/me')).status, 401);
    assert.match(await refusal('organization', 'delete', id, '--yes'), /no organization/);
    const jobs = async () => (await json('jobs', 'list', '--organization', id)).data;
    const [waiting] = await jobs();
    assert.partialDeepStrictEqual(waiting, {
      object: 'job',
      organization_id: id,
      integration_id: null,
      kind: 'delete_organization',
      status: 'pending',
    });
    await runDeletions(world.channel, undefined, 0);
    const [finished] = await jobs();
    // The user, and the audit log of what was made.
    assert.partialDeepStrictEqual(finished, { status: 'done', done: finished.total, error: null });
    assert.match((await run('jobs', 'list', '--organization', id)).out, /delete_organization +done +\d, all/);
  });

  it('a deletion prints the whole command that shows how far it is', async () => {
    const { organizationId, integrationId } = dealer;
    for (const deletion of [
      ['integration', 'delete', integrationId],
      ['organization', 'delete', organizationId],
    ]) {
      const { out } = await run(...deletion, '--yes');
      const [command = ''] = out.match(/(?<=crownwheel -- ).*/) ?? [];
      const [job] = (await json(...command.split(' '))).data;
      assert.equal(job.kind, `delete_${deletion[0]}`);
    }
    await runDeletions(world.channel, undefined, 0);
  });
});
