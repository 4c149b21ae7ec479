import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { commandLine, settingsFor } from '../../test/harness/command-line.ts';
import { exchange } from '../../test/harness/http/api-client.ts';
import { startWorld, type World } from '../../test/harness/world.ts';
import type { Config } from '../config.ts';
import { RATE_LIMIT_OVERRIDE_MAX } from '../contract/limits.ts';
import { CURRENT_VERSION } from '../contract/versions.ts';
import { sql } from '../db/sql.ts';
import { newId } from '../ids/new-id.ts';

describe("the operator's command line", () => {
  let world: World;
  let settings: Config;
  let organizationId: string;
  const { run, runWithInput, json, refusal } = commandLine(() => settings);

  before(async () => {
    world = await startWorld();
    settings = settingsFor(world);
    organizationId = (await json('organization', 'create', '--name', ' Aurum & Escapement ')).id;
  });
  after(() => world.stop());

  async function me(apiKey: string): Promise<[status: number, detail: unknown]> {
    const response = await exchange(`${world.origin}/api/v1/me`, { headers: { authorization: `Bearer ${apiKey}` } });
    return [response.status, response.body.error?.code ?? response.body.rate_limit.limit];
  }

  it('makes an organization with a trimmed name, and lists it page by page', async () => {
    const second = await json('organization', 'create', '--name', 'Second', '--currency', 'chf', '--no-plan');
    assert.deepEqual(second, {
      object: 'organization',
      id: second.id,
      name: 'Second',
      is_provisioned: true,
      has_integration_plan: false,
      currency: 'CHF',
      storage_quota_mb: null,
    });
    const page = await json('organization', 'list', '--limit', '1');
    assert.deepEqual([page.object, page.has_more, page.data.length], ['list', true, 1]);
    assert.equal(page.data[0].name, 'Aurum & Escapement');
    const rest = await json('organization', 'list', '--after', page.data[0].id);
    assert.deepEqual([rest.has_more, rest.data.map((row: { name: string }) => row.name)], [false, ['Second']]);
    const plain = await run('organization', 'list');
    assert.match(
      plain.out,
      /^ID +PROVISIONED +PLAN +NAME\norg_\w+ +yes +yes +Aurum & Escapement\norg_\w+ +yes +no +Second\n$/,
    );
  });

  it('shows a key once, and its changes take effect with the next request', async () => {
    const made = await json('integration', 'create', '--organization', organizationId, '--name', 'Web', '--live');
    const { id, api_key: key } = made;
    assert.equal(made.is_test_mode, false);
    assert.match(key, /^svc_[A-Za-z0-9]{32}$/);
    assert.deepEqual(await me(key), [200, 600]);

    await json('integration', 'rate-limit', id, '1200');
    assert.deepEqual(await me(key), [200, 1200]);
    await json('integration', 'rate-limit', id, 'default');
    assert.equal((await json('integration', 'storage-quota', id, '51200')).storage_quota_mb, 51_200);
    assert.equal((await json('integration', 'storage-quota', id, 'default')).storage_quota_mb, null);
    assert.deepEqual(await me(key), [200, 600]);
    assert.equal((await json('organization', 'storage-quota', organizationId, '204800')).storage_quota_mb, 204_800);
    assert.equal((await json('organization', 'storage-quota', organizationId, 'default')).storage_quota_mb, null);

    assert.equal((await json('integration', 'disable', id)).is_enabled, false);
    assert.deepEqual(await me(key), [403, 'integration_disabled']);
    await json('integration', 'enable', id);

    await json('organization', 'plan', organizationId, 'off');
    assert.deepEqual(await me(key), [403, 'subscription_required']);
    await json('organization', 'plan', organizationId, 'on');
    await json('organization', 'provision', organizationId, 'off');
    assert.deepEqual(await me(key), [403, 'integration_not_provisioned']);
    await json('organization', 'provision', organizationId, 'on');

    assert.equal((await json('integration', 'detach', id)).organization_id, null);
    assert.deepEqual(await me(key), [403, 'integration_org_missing']);
    assert.equal((await json('integration', 'attach', id, organizationId)).organization_id, organizationId);
    assert.deepEqual(await me(key), [200, 600]);

    const { api_key: newKey } = await json('integration', 'regenerate-key', id);
    assert.deepEqual(await me(key), [401, 'invalid_api_key']);
    assert.deepEqual(await me(newKey), [200, 600]);

    assert.doesNotMatch((await run('integration', 'list')).out, /svc_\w{32}/);
    assert.match(await refusal('integration', 'delete', id), /add --yes/);
    assert.deepEqual(await me(newKey), [200, 600]);
    assert.deepEqual(await json('integration', 'delete', id, '--yes'), { object: 'integration', id, deleted: true });
    assert.deepEqual(await me(newKey), [401, 'invalid_api_key']);
  });

  it('starts a new integration in test mode and takes a currency in any case', async () => {
    await json('rates', 'set', 'usd', 'chf', '0.79');
    const made = await json(
      'integration',
      'create',
      '--organization',
      organizationId,
      '--name',
      'W',
      '--currency',
      'chf',
    );
    assert.deepEqual([made.is_test_mode, made.currency], [true, 'CHF']);
  });

  it('lets go of a user who does not belong to the organization an integration is attached to', async () => {
    const owner = await user('owner@dealer.example');
    const args = ['--organization', organizationId, '--name', 'Owned', '--user', owner.id];
    const made = await json('integration', 'create', ...args);
    const userOf = async () => {
      const [row] = await world.db.query<{ user_id: string | null }>(sql`
        select user_id from integrations where id = ${made.id}`);
      return row?.user_id;
    };
    await json('integration', 'detach', made.id);
    await json('integration', 'attach', made.id, organizationId);
    assert.equal(await userOf(), owner.id);
    const other = await json('organization', 'create', '--name', 'Other');
    await json('integration', 'attach', made.id, other.id);
    assert.equal(await userOf(), null);
    assert.match(
      await refusal('integration', 'create', '--organization', other.id, '--name', 'X', '--user', owner.id),
      /^There is no user "usr_\w+"\.$/,
    );
  });

  async function user(email: string, ...more: string[]) {
    return await json('user', 'create', '--organization', organizationId, '--name', 'Dana', '--email', email, ...more);
  }

  it('makes a password unless one is given, and shows only its own', async () => {
    assert.match((await user('made@dealer.example')).password, /^\w{20}$/);
    assert.equal((await user('Given@Dealer.example', '--password', 'correct horse')).password, undefined);
    const create = [
      'user',
      'create',
      '--organization',
      organizationId,
      '--name',
      'D',
      '--email',
      'stdin@dealer.example',
    ];
    const piped = await runWithInput('battery staple\nmore\n', ...create, '--password-stdin', '--json');
    assert.equal(JSON.parse(piped.out).email, 'stdin@dealer.example');
    assert.doesNotMatch(piped.out, /battery/);
  });

  it('refuses what is wrong in one clear line, as JSON too', async () => {
    const stranger = newId('organization');
    const noIntegration = newId('integration');
    const createUser = ['user', 'create', '--name', 'D', '--organization', organizationId];
    const createIntegration = ['integration', 'create', '--organization', organizationId];
    await user('taken@dealer.example');
    const wrongs: [args: string[], line: RegExp][] = [
      [[], /^name a command; --help lists them$/],
      [['organization'], /^name a command; --help lists them$/],
      [['organisation'], /^unknown command 'organisation'; \(Did you mean organization\?\)$/],
      [['organization', 'create'], /^required option '--name <name>' not specified$/],
      [['organization', 'create', '--name', ' '], /^A name has 1 to 500 characters\.$/],
      [['organization', 'create', '--name', 'x'.repeat(501)], /^A name has 1 to 500 characters\.$/],
      [['organization', 'create', '--name', 'two\nlines'], /^A name has no control characters\.$/],
      [['organization', 'create', '--name', 'x', '--colour', 'red'], /^unknown option '--colour'$/],
      [['organization', 'list', '--limit', '0'], /It must be a whole number from 1 to 1000\.$/],
      [['organization', 'plan', stranger, 'on'], /^There is no organization "org_\w+"\.$/],
      [['organization', 'plan', 'nonsense', 'on'], /^There is no organization "nonsense"\.$/],
      [['organization', 'plan', organizationId, 'maybe'], /Allowed choices are on, off\.$/],
      [
        [...createUser, '--email', 'taken@dealer.example'],
        /^There is a user with the email taken@dealer\.example already\.$/,
      ],
      [[...createUser, '--email', 'nobody'], /^"nobody" is not an email address\.$/],
      [[...createUser, '--email', 'a@b.ch', '--password', 'short'], /^A password has 10 to 128 characters\.$/],
      [[...createUser, '--email', 'a@b.ch', '--password', 'x', '--password-stdin'], /cannot be used with option/],
      [
        ['user', 'create', '--organization', stranger, '--name', 'D', '--email', 'a@b.ch'],
        /^There is no organization "org_/,
      ],
      [[...createIntegration, '--name', 'W', '--currency', 'XQX'], /^"XQX" is not a currency of ISO 4217/],
      [[...createIntegration, '--name', ''], /^A name has 1 to 500 characters\.$/],
      [['integration', 'create', '--organization', 'int_1', '--name', 'W'], /^There is no organization "int_1"\.$/],
      [['integration', 'rate-limit', noIntegration, '9'], /^A rate limit is a whole number from 10 to \d+\.$/],
      [
        ['integration', 'rate-limit', noIntegration, String(RATE_LIMIT_OVERRIDE_MAX + 1)],
        /^A rate limit is a whole number from 10 to \d+\.$/,
      ],
      [['integration', 'storage-quota', noIntegration, '0'], /^A storage quota is a whole number of megabytes a day/],
      [['organization', 'storage-quota', 'org_1', '0'], /^A storage quota is a whole number of megabytes a day/],
      [['organization', 'storage-quota', 'org_1', '5'], /^There is no organization "org_1"\.$/],
      [['organization', 'storage-quota', 'org_1', 'much'], /It must be a whole number, or "default"\.$/],
      [['integration', 'rate-limit', noIntegration, '-5'], /It must be a whole number, or "default"\.$/],
      [['integration', 'rate-limit', noIntegration, 'much'], /It must be a whole number, or "default"\.$/],
      [['integration', 'rate-limit', noIntegration, '60'], /^There is no integration "int_\w+"\.$/],
      [['integration', 'attach', noIntegration, stranger], /^There is no organization "org_\w+"\.$/],
      ...['enable', 'disable', 'detach', 'regenerate-key'].map((verb): [string[], RegExp] => [
        ['integration', verb, noIntegration],
        /^There is no integration "int_\w+"\.$/,
      ]),
      [['integration', 'delete', noIntegration, '--yes'], /^There is no integration "int_\w+"\.$/],
    ];
    for (const [args, line] of wrongs) {
      if (args.length > 1 || args[0] === 'organisation') assert.match(await refusal(...args), line, args.join(' '));
      else assert.match(JSON.parse((await run(...args, '--json')).err).error, line);
    }
  });

  it('says which release it is', async () => {
    const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
    assert.deepEqual(await run('--version'), { code: 0, out: `${version} (API ${CURRENT_VERSION})\n`, err: '' });
  });

  it('explains every command with an example', async () => {
    const helpOf = async (...path: string[]) => {
      const { code, out } = await run(...path, '--help');
      assert.equal(code, 0);
      assert.match(out, /Examples?:\n {2}\$ /, path.join(' '));
      return [...out.matchAll(/^ {2}([a-z][a-z-]*)(?: \[options\])?(?: <\w+(?:\.\.\.)?>)* {2,}/gm)]
        .map((match) => match[1] ?? '')
        .filter((name) => name !== 'help');
    };
    const nouns = await helpOf();
    assert.deepEqual(nouns, [
      'organization',
      'user',
      'integration',
      'webhooks',
      'replays',
      'rates',
      'jobs',
      'photos',
      'stock',
      'migrate',
      'generate',
      'doctor',
    ]);
    for (const noun of nouns) {
      for (const verb of await helpOf(noun)) await helpOf(noun, verb);
    }
  });

  it('takes --json before, between and after the words of a command', async () => {
    for (const args of [
      ['--json', 'organization', 'list'],
      ['organization', '--json', 'list'],
    ]) {
      assert.equal(JSON.parse((await run(...args)).out).object, 'list');
    }
  });
});
