import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, it } from 'node:test';
import type { FastifyReply } from 'fastify';
import { createAnswerLimits } from './answer-limits.ts';

/** A reply whose client has not read it yet. */
function unreadReply(): FastifyReply {
  return { raw: Object.assign(new EventEmitter(), { closed: false, socket: null }) } as unknown as FastifyReply;
}

describe('large answers of the dashboard', () => {
  it('wait until the same team has read others, then are refused; small ones and other teams do not wait', async (t) => {
    const pass = createAnswerLimits({ countedFromBytes: 10, total: 100, perKey: 50, waitLimitMs: 50 });
    const unread = unreadReply();
    const ends: FastifyReply[] = [unread];
    const send = async (key: string, bytes: number) => {
      const reply = unreadReply();
      ends.push(reply);
      await pass(key, reply, bytes);
    };
    t.after(() => {
      for (const reply of ends) reply.raw.emit('close');
    });
    await pass('a', unread, 40);
    await send('a', 9);
    await send('b', 40);
    await assert.rejects(send('a', 40), /not read its answers/);
    const waiting = send('a', 40);
    unread.raw.emit('close');
    await waiting;
  });
});
