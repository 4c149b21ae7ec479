import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MeanAnswer } from './client.ts';

/**
 * A server that does nothing: it reads what comes and answers after a given time with given bytes. The same requests sent
 * here instead of to the service show what the attacker's own process and the network cost the machine. It is a process
 * of its own and ends with the program that started it.
 */
let answer: MeanAnswer = { delayMs: 0, bytes: 0 };
const PIECE = Buffer.alloc(65_536, ' ');

const server = createServer(async (request, response) => {
  request.resume();
  request.once('error', () => {});
  response.once('error', () => {});
  await sleep(answer.delayMs);
  response.writeHead(200, { 'content-length': answer.bytes });
  for (let rest = answer.bytes; rest > 0 && !response.destroyed; rest -= PIECE.length) {
    const isTaken = response.write(PIECE.subarray(0, Math.min(rest, PIECE.length)));
    if (!isTaken) await takenOrGone(response);
  }
  response.end();
});
server.requestTimeout = 0;

process.on('message', (message: MeanAnswer) => {
  answer = message;
  process.send?.('ready');
});
process.once('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));

/** Leaves no listener behind, since a large answer waits often. */
async function takenOrGone(response: ServerResponse): Promise<void> {
  await new Promise<void>((resolve) => {
    const end = () => {
      response.off('drain', end).off('close', end);
      resolve();
    };
    response.on('drain', end).on('close', end);
  });
}
