import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../../../test/harness/actor.ts';
import { signedIn } from '../../../../../test/harness/http/dashboard-client.ts';
import { picture } from '../../../../../test/harness/photos.ts';
import { watch } from '../../../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../../../test/harness/world.ts';
import { createItem } from '../../../../inventory/items/item-operations.ts';
import { withUploadMemory } from '../../../../inventory/photos/photo-memory.ts';

type Person = Awaited<ReturnType<typeof signedIn>>;

describe('a photo that waits until it is made fit to be shown', () => {
  let world: World;
  let person: Person;
  let itemId: string;
  before(async () => {
    world = await startWorld({ timeouts: { idleMs: 12_000 } });
    person = await signedIn(world);
    itemId = await createItem(world.channel, TESTER, person.organizationId, watch());
  });
  after(() => world.stop());

  const photos = () => `${world.origin}/api/dashboard/items/${itemId}/photos`;
  const post = async (url: string, body?: Uint8Array<ArrayBuffer>) => {
    const headers = { origin: world.channel.publicUrl, cookie: person.cookie() };
    const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/octet-stream' };
    return await fetch(url, {
      method: 'POST',
      headers: { ...headers, ...type },
      ...(body === undefined ? {} : { body }),
    });
  };

  it('in vain is answered 503 and Retry-After, though its connection may be idle for a shorter time', async () => {
    const file = new Uint8Array(await picture('jpeg', 30, 20));
    const made = await post(photos(), file);
    assert.equal(made.status, 200, await made.clone().text());
    const { id } = (await made.json()) as { id: string };
    const free = Promise.withResolvers<void>();
    const held = ['org_one', 'org_two'].map((other) => withUploadMemory(other, 1, () => free.promise));
    try {
      const answers = await Promise.all([post(photos(), file), post(`${photos()}/${id}/rotate`)]);
      for (const answer of answers) {
        assert.equal(answer.status, 503);
        assert.ok(Number(answer.headers.get('retry-after')) >= 1);
      }
    } finally {
      free.resolve();
    }
    await Promise.all(held);
    assert.equal((await post(photos(), file)).status, 200);
  });
});
