import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { signedIn } from '../../../../test/harness/http/dashboard-client.ts';
import { startWorld, type World } from '../../../../test/harness/world.ts';

describe('texts that the database can’t store', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  it('are not looked for in what nobody reads: a walk through 128 KiB of small values takes 8 to 40 ms', async () => {
    const person = await signedIn(world);
    const view = { list: 'watches', name: 'Unread', query: '', is_shared: false };
    const answer = await person.call('POST', '/views', { ...view, more: ['a\0b', { '\0': '\ud800' }] });
    assert.equal(answer.status, 200, answer.text);
  });

  it('are refused in addresses, queries and bodies', async () => {
    const person = await signedIn(world);
    const view = { list: 'watches', name: 'Mine', query: '', is_shared: false };
    const answers = [
      await person.call('GET', '/stock?kind=listing&q=a%00b'),
      await person.call('GET', '/audit/%00/objects'),
      await person.call('GET', '/search?q=%00'),
      await person.call('GET', '/jobs?q=%00'),
      await person.call('POST', '/views', { ...view, name: 'a\0b' }),
      await person.call('POST', '/stock/bulk/count', { item_ids: ['a\0b'] }),
      await person.call('POST', '/stock/bulk/count', { item_ids: ['\ud800'] }),
    ];
    assert.deepEqual(
      answers.map(({ status }) => status),
      answers.map(() => 400),
    );
    assert.partialDeepStrictEqual(answers[0]?.body.error, { code: 'invalid_input', field: 'q' });
    assert.equal((await person.call('POST', '/views', view)).status, 200);
  });
});
