import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import { UNANSWERED_REQUESTS_LIMIT } from '../../contract/limits.ts';
import { limitUnanswered, type UnansweredRequests } from './unanswered-requests.ts';

/** A connection that sends one request too many. */
function floodFrom(unanswered: UnansweredRequests, remoteAddress: string): boolean {
  const destroy = () => Object.assign(socket, { destroyed: true });
  const socket = Object.assign(new EventEmitter(), { remoteAddress, destroyed: false, destroy });
  const send = () =>
    unanswered.isWithinLimit(
      { socket } as unknown as IncomingMessage,
      Object.assign(new EventEmitter(), { socket: null }) as unknown as ServerResponse,
    );
  for (let count = 0; count < UNANSWERED_REQUESTS_LIMIT; count++) assert.equal(send(), true);
  assert.equal(send(), false);
  socket.emit('close');
  return socket.destroyed;
}

describe('a network whose connections send requests without end', () => {
  it('loses its connections and may open none for a while, and other networks may', () => {
    let nowMs = 0;
    const unanswered = limitUnanswered(() => nowMs);
    const shutOut: string[] = [];
    unanswered.onShutOut((network) => shutOut.push(network));
    const { stackTraceLimit } = Error;
    for (let cuts = 0; cuts < 2; cuts++) {
      assert.equal(unanswered.isShutOut('192.0.2.1'), false);
      assert.equal(floodFrom(unanswered, '192.0.2.1'), true);
    }
    assert.equal(Error.stackTraceLimit, stackTraceLimit);
    assert.deepEqual(shutOut, ['192.0.2.1']);
    assert.equal(unanswered.isShutOut('192.0.2.1'), true);
    assert.equal(unanswered.isShutOut('192.0.2.2'), false);
    nowMs = 10_000;
    assert.equal(unanswered.isShutOut('192.0.2.1'), false);
  });
});
