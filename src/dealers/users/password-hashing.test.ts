import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setImmediate as tick } from 'node:timers/promises';
import { TESTER } from '../../../test/harness/actor.ts';
import { TEST_PASSWORD } from '../../../test/harness/passwords.ts';
import { startWorld, type World } from '../../../test/harness/world.ts';
import type { Database } from '../../db/database.ts';
import { acceptInvitation, inviteMember, makeResetLink, resetPassword } from './invitations-and-resets.ts';
import { PASSWORDS_AT_ONCE, withPasswordSlot } from './password-hashing.ts';
import { signUp } from './sign-up.ts';
import { createUser } from './users.ts';

describe('hashing of passwords', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  /** Takes all slots until it is released. */
  function occupy(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    for (let index = 0; index < PASSWORDS_AT_ONCE; index++) void withPasswordSlot(`busy ${index}`, () => promise);
    return resolve;
  }

  /** The same database, which counts transactions. */
  function countTransactions(): { db: Database; opened(): number } {
    let opened = 0;
    const db: Database = {
      ...world.db,
      transaction: (...input) => {
        opened += 1;
        return world.db.transaction(...input);
      },
    };
    return { db, opened: () => opened };
  }

  it('runs for few at once, whoever asks', async () => {
    let running = 0;
    let most = 0;
    const task = async () => {
      running += 1;
      most = Math.max(most, running);
      await tick();
      running -= 1;
    };
    await Promise.all(Array.from({ length: 60 }, (_, index) => withPasswordSlot(`10.0.0.${index}`, task)));
    assert.equal(most, PASSWORDS_AT_ONCE);
  });

  it('serves addresses round-robin: somebody who tries many passwords keeps nobody from signing in', async () => {
    const release = occupy();
    const order: string[] = [];
    const attempt = (address: string) => withPasswordSlot(address, async () => void order.push(address));
    const many = Array.from({ length: 40 }, () => attempt('10.0.0.1'));
    const other = attempt('10.0.0.2');
    release();
    await Promise.all([...many, other]);
    assert.ok(order.indexOf('10.0.0.2') < 3, order.join());
  });

  it('counts the addresses of one IPv6 network as one, and refuses when too many of it wait', async () => {
    const release = occupy();
    const attempts = Array.from({ length: 60 }, (_, index) =>
      withPasswordSlot(`2001:db8:1:2::${index + 1}`, async () => {}),
    );
    const settled = Promise.allSettled(attempts);
    release();
    const refused = (await settled).filter(({ status }) => status === 'rejected');
    assert.equal(refused.length, 10);
  });

  it('happens before the transaction: who waits for it holds no connection', async () => {
    const { organizationId, userId } = await world.dealer();
    const email = (name: string) => `${name}-${organizationId}@dealer.example`;
    const invitation = await inviteMember(world.db, TESTER, { organizationId, email: email('invited'), role: 'staff' });
    const reset = await makeResetLink(world.db, TESTER, { organizationId, userId });
    const { db, opened } = countTransactions();
    const rest = { name: 'New', password: TEST_PASSWORD, address: '10.0.0.9' };
    const release = occupy();
    const waiting = [
      signUp(db, { ...rest, organizationName: 'New', email: email('new'), currency: 'CHF' }),
      acceptInvitation(db, { ...rest, token: invitation.token }),
      resetPassword(db, { ...rest, token: reset.token }),
      createUser(db, TESTER, { ...rest, organizationId, email: email('made') }),
    ];
    const done = Promise.all(waiting);
    // A round trip of the database: by then each has asked for what it asks before the hash.
    for (let round = 0; round < 5; round++) await world.db.pool.query('select 1');
    assert.equal(opened(), 0);
    release();
    await done;
    assert.equal(opened(), waiting.length);
  });

  it('is done for nobody without a link', async () => {
    const release = occupy();
    try {
      const input = { token: 'x'.repeat(43), name: 'x', password: TEST_PASSWORD, address: '10.0.0.8' };
      await assert.rejects(acceptInvitation(world.db, input), { code: 'not_found' });
      await assert.rejects(resetPassword(world.db, input), { code: 'not_found' });
    } finally {
      release();
    }
  });
});
