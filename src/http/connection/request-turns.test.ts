import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createFastPath } from '../fast-path.ts';
import { ALONE_AFTER_MS, createRequestTurns, REQUESTS_PER_TURN } from './request-turns.ts';
import { createSenders } from './senders.ts';
import { limitUnanswered } from './unanswered-requests.ts';

const dealerOf = (name: string) => ({ group: name, key: name });
const LOUD = dealerOf('loud');
const QUIET = dealerOf('quiet');
const NAMES = Array.from({ length: REQUESTS_PER_TURN * 2 + 1 }, (_, index) => `loud ${index}`);

describe('requests that arrive together', () => {
  it('begin at once if their client is alone', () => {
    const turns = createRequestTurns();
    const begun: string[] = [];
    const note = (name: string) => begun.push(name) > 0;
    for (const name of NAMES) turns.take(LOUD, () => note(name));
    assert.deepEqual(begun, NAMES);
  });

  it('begin a few in each turn of the event loop beside another client, in their order, and the other at once', async () => {
    const turns = createRequestTurns();
    const begun: string[] = [];
    const note = (name: string) => begun.push(name) > 0;
    turns.take(QUIET, () => note('quiet'));
    for (const name of NAMES) turns.take(LOUD, () => note(name));
    turns.take(QUIET, () => note('quiet'));
    const first = ['quiet', ...NAMES.slice(0, REQUESTS_PER_TURN), 'quiet'];
    assert.deepEqual(begun, first);
    await nextTurn();
    assert.deepEqual(begun, [...first, ...NAMES.slice(REQUESTS_PER_TURN, -1)]);
    // One that arrives now waits behind those that arrived before it.
    turns.take(LOUD, () => note('last'));
    turns.take(QUIET, () => note('quiet'));
    assert.equal(begun.at(-1), 'quiet');
    await nextTurn();
    assert.deepEqual(begun.slice(-3), ['quiet', NAMES.at(-1), 'last']);
  });

  it('share the turns of their dealer round-robin among its integrations and people', async () => {
    const turns = createRequestTurns();
    const begun: string[] = [];
    turns.take(QUIET, () => true);
    const send = (key: string, count: number) => {
      for (let sent = 0; sent < count; sent++) turns.take({ group: 'dealer', key }, () => begun.push(key) > 0);
    };
    send('a', 2 * REQUESTS_PER_TURN);
    send('b', 1);
    send('c', REQUESTS_PER_TURN);
    assert.deepEqual(begun.splice(0), ['a', 'a', 'a', 'a']);
    await nextTurn();
    assert.deepEqual(begun.splice(0), ['a', 'b', 'c', 'a']);
    await nextTurn();
    assert.deepEqual(begun.splice(0), ['c', 'a', 'c', 'a']);
    await nextTurn();
    assert.deepEqual(begun, ['c']);
  });

  it('count as several if their URLs are long, so that one of them fills a turn', async () => {
    const path = createFastPath(createSenders([]), limitUnanswered());
    const begun: string[] = [];
    path.open(({ url = '' }) => begun.push(url.length > 100 ? 'long' : url));
    const server = path.createServer({}, () => {});
    const send = (url: string, remoteAddress: string) =>
      server.emit(
        'request',
        { url, headers: {}, rawHeaders: [], socket: { remoteAddress } } as unknown as IncomingMessage,
        {} as ServerResponse,
      );
    send('/quiet', '192.0.2.1');
    for (let count = 0; count < 3; count++) send(`/?${'a&'.repeat(7_500)}`, '192.0.2.2');
    send('/short', '192.0.2.2');
    assert.deepEqual(begun, ['/quiet', 'long']);
    await nextTurn();
    assert.deepEqual(begun.slice(2), ['long']);
    await nextTurn();
    await nextTurn();
    assert.deepEqual(begun.slice(3), ['long', '/short']);
  });

  it('begin at once again when the other client has been silent for a while', async () => {
    let nowMs = 0;
    const turns = createRequestTurns(() => nowMs);
    let begun = 0;
    const send = () => {
      for (const _ of NAMES) turns.take(LOUD, () => ++begun > 0);
    };
    turns.take(QUIET, () => true);
    send();
    assert.equal(begun, REQUESTS_PER_TURN);
    await nextTurn();
    await nextTurn();
    assert.equal(begun, NAMES.length);
    nowMs = ALONE_AFTER_MS;
    send();
    assert.equal(begun, 2 * NAMES.length);
  });

  it('leave their places to others if they have no need to begin any more', async () => {
    const turns = createRequestTurns();
    const begun: string[] = [];
    turns.take(QUIET, () => true);
    for (let count = 0; count < REQUESTS_PER_TURN; count++) turns.take(LOUD, () => true);
    for (let count = 0; count < 3 * REQUESTS_PER_TURN; count++) turns.take(LOUD, () => false);
    turns.take(LOUD, () => begun.push('last') > 0);
    await nextTurn();
    assert.deepEqual(begun, ['last']);
  });

  it('are told apart by their senders; one whose client left meanwhile is not begun', async () => {
    const known = createSenders([]);
    const path = createFastPath(known, limitUnanswered());
    const begun: string[] = [];
    path.open((request) => begun.push(String(request.url)));
    const server = path.createServer({}, () => {});
    const send = (url: string, headers: object, response: object) =>
      server.emit(
        'request',
        { url, headers, rawHeaders: [], socket: { remoteAddress: '192.0.2.1' } } as unknown as IncomingMessage,
        response as ServerResponse,
      );
    const senders = [
      { authorization: 'Bearer a', cookie: 'c' },
      { authorization: 'Bearer b', cookie: 'c' },
      { cookie: 'c' },
      {},
    ];
    for (const [index, headers] of senders.entries()) known.note(headers, dealerOf(`sender ${index}`));
    const gone = { destroyed: false };
    for (const [index, headers] of senders.entries()) {
      for (let count = 0; count < REQUESTS_PER_TURN; count++) send(`/${index}`, headers, {});
      send(`/${index} later`, headers, {});
      send(`/${index} gone`, headers, gone);
    }
    const urls = [...senders.keys()].map((index) => `/${index}`);
    // The first one was alone.
    const atOnce = urls.flatMap((url) => Array.from({ length: REQUESTS_PER_TURN }, () => url));
    assert.deepEqual(
      begun.filter((url) => !url.startsWith('/0')),
      atOnce.filter((url) => url !== '/0'),
    );
    gone.destroyed = true;
    await nextTurn();
    assert.deepEqual(begun.slice(-3), ['/1 later', '/2 later', '/3 later']);
  });
});
