import type { Socket } from 'node:net';
import {
  WEBHOOK_RESPONSE_BODY_LIMIT_BYTES,
  WEBHOOK_RESPONSE_HEAD_LIMIT_BYTES,
  WEBHOOK_RESPONSE_HEAD_LINES_LIMIT,
  WEBHOOK_RESPONSE_PIECES_LIMIT,
} from '../../contract/limits.ts';

const LINE_FEED = 0x0a;
/** Begins the head that the body follows. After any other, such as that of a 103, there comes another head. */
const FINAL_STATUS = /^HTTP\/\d\.\d [2-9]/;
const STATUS_BYTES = 'HTTP/1.1 2'.length;

/** Closes a connection whose response goes on after enough of it was read. Its status is known by then, and counts. */
export class EnoughRead extends Error {
  override name = 'EnoughRead';
}

/** How much of what follows the head of a response is passed on, and in how many pieces the response may come. */
export type ResponseLimits = { bodyBytes: number; pieces: number };

export const WEBHOOK_RESPONSE: ResponseLimits = {
  bodyBytes: WEBHOOK_RESPONSE_BODY_LIMIT_BYTES,
  pieces: WEBHOOK_RESPONSE_PIECES_LIMIT,
};

/**
 * Closes a connection when a response has more lines or bytes before its body than an honest one, and passes on only the beginning
 * of what follows. undici limits the names and values of headers. It doesn't see how many headers, 1xx responses and empty lines
 * there are, nor what lies between the chunks of a body and behind them, and calls back for each of those.
 *
 * The bytes are checked in `push`, which Node calls with all that comes from the network, also with what TLS has decrypted. A
 * listener would come too late: undici parses what lies in the socket's buffer, even if the socket has been destroyed.
 */
export function limitResponses(socket: Socket, { bodyBytes, pieces }: ResponseLimits): void {
  const push = socket.push.bind(socket);
  let writtenBytes = 0;
  let readBytes = 0;
  let readPieces = 0;
  let early: Buffer[] = [];
  let head: Head | null = null;

  socket.push = (chunk: Buffer | null) => {
    if (chunk === null) return push(null);
    // Requests go out one at a time: what comes after one was written is its response.
    const { bytesWritten } = socket;
    if (bytesWritten !== writtenBytes) {
      writtenBytes = bytesWritten;
      readBytes = 0;
      readPieces = 0;
      early = [];
      head = null;
    }
    if (readBytes === 0) maskContinue(chunk);
    readBytes += chunk.length;
    readPieces += 1;
    // Most responses are so short that they can't have too many lines. Looking at each costs time on every webhook.
    if (readBytes <= WEBHOOK_RESPONSE_HEAD_LINES_LIMIT) {
      early.push(chunk);
      return push(chunk);
    }
    head ??= headOf(early);
    head.add(chunk);
    const isInPieces = readPieces > pieces;
    const problem = isInPieces && !head.isOver() ? tooManyPieces(pieces) : problemOf(head, readBytes);
    if (problem !== null) {
      socket.destroy(new Error(problem));
      return false;
    }
    const surplus = head.bodyBytes() - bodyBytes;
    if (surplus <= 0 && !isInPieces) return push(chunk);
    // What comes after this one is dropped. The client parses what it was given in the tick before.
    if (surplus < chunk.length) push(chunk.subarray(0, chunk.length - Math.max(0, surplus)));
    process.nextTick(() => socket.destroy(new EnoughRead('enough was read')));
    return false;
  };
}

const CONTINUE = Buffer.from('HTTP/1.1 100');
const EARLY_HINTS = Buffer.from('HTTP/1.1 103');

/** Some servers answer with a 100 that nobody asked for. undici takes that for a fault, but skips any other 1xx. */
function maskContinue(chunk: Buffer): void {
  if (chunk.length >= CONTINUE.length && CONTINUE.equals(chunk.subarray(0, CONTINUE.length))) EARLY_HINTS.copy(chunk);
}

function problemOf(head: Head, readBytes: number): string | null {
  if (head.lines() > WEBHOOK_RESPONSE_HEAD_LINES_LIMIT) {
    return `the response has too many header lines: more than ${WEBHOOK_RESPONSE_HEAD_LINES_LIMIT}`;
  }
  if (readBytes - head.bodyBytes() <= WEBHOOK_RESPONSE_HEAD_LIMIT_BYTES) return null;
  return `the response is too large before its body: more than ${WEBHOOK_RESPONSE_HEAD_LIMIT_BYTES / 1_024} KiB`;
}

function tooManyPieces(limit: number): string {
  return `the response came in too many pieces before its body: more than ${limit}`;
}

type Head = { add(chunk: Buffer): void; lines(): number; isOver(): boolean; bodyBytes(): number };

function headOf(chunks: Buffer[]): Head {
  const head = createHead();
  for (const chunk of chunks) head.add(chunk);
  return head;
}

/** Counts the lines before a response's body, those of 1xx responses included. It stops at one that is too many. */
function createHead(): Head {
  let lines = 0;
  let lineBytes = 0;
  let bodyBytes = 0;
  /** How the status line begins. Empty lines may come before it. */
  let status = '';
  let isOver = false;

  function endLine(): void {
    lines += 1;
    // An empty line still has its carriage return.
    const isEmpty = lineBytes <= 1;
    lineBytes = 0;
    if (!isEmpty) return;
    isOver = FINAL_STATUS.test(status);
    status = '';
  }

  return {
    add(chunk) {
      let start = 0;
      while (start < chunk.length && !isOver && lines <= WEBHOOK_RESPONSE_HEAD_LINES_LIMIT) {
        const feed = chunk.indexOf(LINE_FEED, start);
        const end = feed === -1 ? chunk.length : feed;
        if (status.length < STATUS_BYTES) {
          status += chunk.toString('latin1', start, Math.min(end, start + STATUS_BYTES));
        }
        lineBytes += end - start;
        if (feed !== -1) endLine();
        start = end + 1;
      }
      if (isOver) bodyBytes += chunk.length - start;
    },
    lines: () => lines,
    isOver: () => isOver,
    bodyBytes: () => bodyBytes,
  };
}
