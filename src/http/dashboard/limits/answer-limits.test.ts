import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, it } from 'node:test';
import type { FastifyReply } from 'fastify';
import { createAnswerLimits } from './answer-limits.ts';

/** A reply whose client has not read it yet. */
function unreadReply(): FastifyReply {
  return { raw: Object.assign(new EventEmitter(), { closed: false, socket: null }) } as unknown as FastifyReply;
}

describe('answers of the dashboard that nobody has read yet', () => {
  it('are counted for their team, and one too many is refused at once; small ones and other teams are not', (t) => {
    const count = createAnswerLimits({ countedFromBytes: 10, total: 100, perKey: 50 });
    const unread = unreadReply();
    const ends: FastifyReply[] = [unread];
    const send = (key: string, bytes: number) => {
      const reply = unreadReply();
      ends.push(reply);
      count(key, reply, bytes);
    };
    t.after(() => {
      for (const reply of ends) reply.raw.emit('close');
    });
    count('a', unread, 40);
    send('a', 9);
    send('b', 40);
    assert.throws(() => send('a', 40), /not read its answers/);
    unread.raw.emit('close');
    send('a', 40);
  });
});
