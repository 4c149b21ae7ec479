import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { TESTER } from '../../../../test/harness/actor.ts';
import { countRefused } from '../../../../test/harness/servers/receiver.ts';
import { openShop, type Shop } from '../../../../test/harness/shop.ts';
import { isAccepted, signedAt } from '../../../../test/harness/webhooks/verify-signature.ts';
import {
  type ConnectedReceiver,
  claimRequest,
  deliveryOf,
  ping,
  startWebhookWorld,
  type WebhookWorld,
} from '../../../../test/harness/webhooks/webhook-world.ts';
import { isId } from '../../../contract/ids.ts';
import { sql } from '../../../db/sql.ts';
import { type Claimed, claimDue } from '../claim.ts';
import { recordOutcomes } from '../outcomes/record-outcomes.ts';
import { replayDelivery } from '../replay.ts';
import { waitMsAfter } from './retry-schedule.ts';

const START = new Date('2031-03-01T12:00:00.000Z');
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const WAITS = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR];
const LEASE_MS = 20_000;

describe('attempts and the retry schedule', () => {
  let world: WebhookWorld;
  let shop: Shop;
  let receiver: ConnectedReceiver;
  let time: Date;

  before(async () => {
    world = await startWebhookWorld({ time: START, limits: { leaseMs: LEASE_MS, pollMs: 20 } });
  });
  beforeEach(async () => {
    moveTo(START);
    shop = await openShop(world);
    receiver = await world.connect(shop);
  });
  beforeEach(() => world.worker.ensureStarted());
  after(() => world.stop());

  function moveTo(next: Date): void {
    time = next;
    world.setTime(next);
  }
  const later = (ms: number) => new Date(time.getTime() + ms);

  /** Long enough for the worker to look several times. */
  const aFewPolls = () => sleep(100);

  it('a delivery is tried eight times, with waits of 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h, and then is a dead letter', async () => {
    receiver.answerWith(500);
    const deliveryId = await ping(shop);
    for (const [index, wait] of WAITS.entries()) {
      await receiver.until(index + 1);
      await world.worker.settled();
      const { status, attempts, due_at, last_attempt_at, last_response_code } = await deliveryOf(world, shop);
      assert.deepEqual(
        { status, attempts, due_at, last_attempt_at, last_response_code },
        { status: 'failed', attempts: index + 1, due_at: later(wait), last_attempt_at: time, last_response_code: 500 },
      );
      moveTo(later(wait - 1));
      await aFewPolls();
      assert.equal(receiver.received.length, index + 1, 'an attempt came early');
      moveTo(later(1));
    }
    await receiver.until(8);
    await world.worker.settled();
    const dead = await deliveryOf(world, shop);
    assert.deepEqual([dead.status, dead.attempts, dead.due_at, dead.finished_at], ['dead_letter', 8, null, null]);
    moveTo(later(1_000 * HOUR));
    await aFewPolls();
    assert.equal(receiver.received.length, 8);
    await world.worker.stop();
    assert.deepEqual(world.worker.notices, [{ kind: 'dead_letters', counts: { [shop.integrationId]: 1 } }]);
    await world.worker.restart();

    const { received } = receiver;
    assert.deepEqual(
      received.map(({ attempt }) => attempt),
      [1, 2, 3, 4, 5, 6, 7, 8],
    );
    assert.equal(new Set(received.map(({ eventId }) => eventId)).size, 1);
    assert.equal(new Set(received.map(({ body }) => body)).size, 1);
    assert.equal(received[0]?.deliveryId, deliveryId, 'the first dispatch carries the id of the delivery');
    assert.equal(new Set(received.map((each) => each.deliveryId)).size, 8, 'each dispatch has an id of its own');
    assert.ok(received.every((each) => isId('delivery', each.deliveryId)));
    let elapsed = 0;
    for (const [index, webhook] of received.entries()) {
      const at = (START.getTime() + elapsed) / 1000;
      assert.equal(signedAt(webhook.signature), at, 'each attempt is signed anew');
      assert.equal(await isAccepted(webhook, receiver.secret, at), true);
      elapsed += WAITS[index] ?? 0;
    }
    assert.equal(waitMsAfter(8), null);
  });

  it('a retry waits from the end of the attempt before, not from its start', async () => {
    let finish = () => {};
    receiver.answer = (response) => {
      finish = () => response.writeHead(503).end();
    };
    await ping(shop);
    await receiver.until(1);
    moveTo(later(7 * SECOND));
    finish();
    await world.worker.settled();
    assert.deepEqual((await deliveryOf(world, shop)).due_at, later(5 * SECOND));
    receiver.answerWith(200);
  });

  it('attempts end with the first 2xx, and the failure counters of the endpoint start from zero', async () => {
    receiver.answerWith(502);
    await ping(shop);
    await receiver.until(1);
    await world.worker.settled();
    const failing = (await shop.api.get('/v1/me')).body.webhook;
    assert.deepEqual(
      [failing.consecutive_failures, failing.last_failure_at, failing.last_success_at],
      [1, START.toISOString(), null],
    );
    receiver.answer = (response) => response.writeHead(201).end('danke');
    moveTo(later(5 * SECOND));
    await receiver.until(2);
    await world.worker.settled();
    const { status, attempts, due_at, finished_at, last_response_body } = await deliveryOf(world, shop);
    assert.deepEqual(
      [status, attempts, due_at, finished_at, last_response_body],
      ['succeeded', 2, null, time, 'danke'],
    );
    const working = (await shop.api.get('/v1/me')).body.webhook;
    assert.deepEqual(
      [working.consecutive_failures, working.last_failure_at, working.last_success_at],
      [0, START.toISOString(), time.toISOString()],
    );
  });

  it('attempts start from one after a replay: the same row and event, a fresh counter and fresh dispatch ids', async () => {
    receiver.answerWith(500);
    const deliveryId = await ping(shop);
    for (const [index, wait] of WAITS.entries()) {
      await receiver.until(index + 1);
      await world.worker.settled();
      moveTo(later(wait));
    }
    await receiver.until(8);
    await world.worker.settled();
    assert.equal(await replayDelivery(world.db, TESTER, shop.integrationId, deliveryId, time), true);
    await receiver.until(9);
    await world.worker.settled();
    const replayed = await deliveryOf(world, shop);
    assert.deepEqual([replayed.id, replayed.status, replayed.attempts], [deliveryId, 'failed', 1]);
    assert.deepEqual(replayed.due_at, later(5 * SECOND));
    receiver.answerWith(200);
    moveTo(later(5 * SECOND));
    await receiver.until(10);
    await world.worker.settled();
    assert.equal((await deliveryOf(world, shop)).status, 'succeeded');
    assert.deepEqual(
      receiver.received.slice(8).map(({ attempt }) => attempt),
      [1, 2],
    );
    assert.equal(new Set(receiver.received.map(({ eventId }) => eventId)).size, 1);
    assert.equal(new Set(receiver.received.map((each) => each.deliveryId)).size, 10);
    assert.equal(await countRefused(receiver.received.slice(9), receiver.secret, time), 0);
  });

  it('an attempt keeps its number when its worker dies, three times at most, and then counts as a failure', async () => {
    await world.worker.stop();
    const deliveryId = await ping(shop);
    for (let death = 0; death < 3; death++) {
      assert.equal((await claimAndDie()).attempts, 0);
      moveTo(later(LEASE_MS));
    }
    await world.worker.restart();
    const [webhook] = await receiver.until(1);
    assert.deepEqual([webhook?.attempt, webhook?.deliveryId === deliveryId], [1, false]);
    await world.worker.settled();
    assert.equal((await deliveryOf(world, shop)).status, 'succeeded');

    await world.worker.stop();
    await ping(shop);
    for (let death = 0; death < 4; death++) {
      await claimAndDie();
      moveTo(later(LEASE_MS));
    }
    await world.worker.restart();
    await aFewPolls();
    await world.worker.settled();
    const { status, attempts, due_at, last_error } = await deliveryOf(world, shop);
    assert.deepEqual([status, attempts, due_at], ['failed', 1, later(5 * SECOND)]);
    assert.match(last_error ?? '', /worker died/);
    assert.equal(receiver.received.length, 1, 'it was sent all the same');
    moveTo(later(5 * SECOND));
    const [, second] = await receiver.until(2);
    assert.equal(second?.attempt, 2);
    await world.worker.settled();
  });

  it('an attempt is not taken over while its lease lasts, and an outcome that comes after that does not count', async () => {
    await world.worker.stop();
    await ping(shop);
    const late = await claimAndDie();
    moveTo(later(LEASE_MS - 1));
    assert.deepEqual(await claimNow(), []);
    moveTo(later(1));
    await world.worker.restart();
    await receiver.until(1);
    await world.worker.settled();
    const recorded = await deliveryOf(world, shop);
    const result = { isSuccess: false, responseCode: 500, responseBody: null, error: null };
    await recordOutcomes(world.db, [{ delivery: late, result, startedAt: time, endedAt: time, durationMs: 1 }]);
    assert.deepEqual(await deliveryOf(world, shop), recorded);
    assert.equal(recorded.status, 'succeeded');
  });

  it('a dead letter is reported by the worker that records it, and not by one whose lease has passed', async () => {
    await world.worker.stop();
    await ping(shop);
    await world.db.query(sql`
      update deliveries set attempts = ${WAITS.length} where integration_id = ${shop.integrationId}`);
    const late = await claimAndDie();
    moveTo(later(LEASE_MS));
    const current = await claimAndDie();
    const result = { isSuccess: false, responseCode: 500, responseBody: null, error: null };
    const record = async (delivery: Claimed) => {
      const outcome = { delivery, result, startedAt: time, endedAt: time, durationMs: 1 };
      return (await recordOutcomes(world.db, [outcome])).deadLetters;
    };
    assert.deepEqual(await record(late), new Map());
    assert.deepEqual(await record(current), new Map([[shop.integrationId, 1]]));
    assert.deepEqual(await record(current), new Map());
    assert.equal((await deliveryOf(world, shop)).status, 'dead_letter');
  });

  async function claimNow() {
    const { claimed } = await claimDue(world.db, claimRequest({ leaseMs: LEASE_MS, now: time }));
    return claimed;
  }

  async function claimAndDie() {
    const [claimed] = await claimNow();
    assert.ok(claimed !== undefined);
    return claimed;
  }
});
