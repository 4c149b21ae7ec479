import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSingleFlight } from './single-flight.ts';

describe('a single-flight', () => {
  /** Work that ends when the test says so. */
  function open() {
    const flights: { key: string; signal: AbortSignal; finish(value: string): void; fail(error: Error): void }[] = [];
    const singleFlight = createSingleFlight<string>();
    const call = (key: string, signal?: AbortSignal) =>
      singleFlight(
        key,
        (own) => new Promise((resolve, reject) => flights.push({ key, signal: own, finish: resolve, fail: reject })),
        { signal },
      );
    const tick = () => new Promise((resolve) => setImmediate(resolve));
    return { flights, call, tick };
  }

  it('runs once for all calls of one key, and apart for another key', async () => {
    const { flights, call, tick } = open();
    const same = Promise.all([call('a'), call('a')]);
    const other = call('b');
    await tick();
    assert.deepEqual(
      flights.map((flight) => flight.key),
      ['a', 'b'],
    );
    flights[0]?.finish('one');
    flights[1]?.finish('two');
    assert.deepEqual(await same, ['one', 'one']);
    assert.equal(await other, 'two');
  });

  it('fails all calls that joined it and starts anew for the next', async () => {
    const { flights, call, tick } = open();
    const doomed = Promise.allSettled([call('a'), call('a')]);
    await tick();
    flights[0]?.fail(new Error('gone'));
    assert.deepEqual(
      (await doomed).map((one) => one.status),
      ['rejected', 'rejected'],
    );
    const next = call('a');
    await tick();
    flights[1]?.finish('back');
    assert.equal(await next, 'back');
  });

  it('fails calls whose work throws at once, and frees the key', async () => {
    const singleFlight = createSingleFlight<string>();
    const broken = (): Promise<string> => {
      throw new Error('at once');
    };
    await assert.rejects(singleFlight('a', broken), /at once/);
    assert.equal(await singleFlight('a', () => Promise.resolve('fine')), 'fine');
  });

  it('goes on while one caller stays', async () => {
    const { flights, call, tick } = open();
    const client = new AbortController();
    const gone = call('a', client.signal);
    const stays = call('a');
    await tick();
    client.abort(new Error('client has gone'));
    await assert.rejects(gone, /client has gone/);
    assert.equal(flights[0]?.signal.aborted, false);
    flights[0]?.finish('done');
    assert.equal(await stays, 'done');
  });

  it('is aborted when the last caller has left, and the next call starts anew', async () => {
    const { flights, call, tick } = open();
    const clients = [new AbortController(), new AbortController()];
    const gone = Promise.allSettled(clients.map((client) => call('a', client.signal)));
    await tick();
    for (const client of clients) client.abort();
    await gone;
    assert.equal(flights[0]?.signal.aborted, true);
    const next = call('a');
    await tick();
    assert.equal(flights.length, 2);
    // The end of the aborted one does not take the key from its successor.
    flights[0]?.finish('nobody wants it');
    await tick();
    const joins = call('a');
    flights[1]?.finish('fresh');
    assert.deepEqual(await Promise.all([next, joins]), ['fresh', 'fresh']);
    assert.equal(flights.length, 2);
  });

  it('starts nothing for a caller that has already gone', async () => {
    const { flights, call } = open();
    await assert.rejects(call('a', AbortSignal.abort(new Error('gone'))), /gone/);
    assert.equal(flights.length, 0);
  });
});
