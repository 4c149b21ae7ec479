import type { Socket } from 'node:net';
import {
  WEBHOOK_RESPONSE_BODY_LIMIT_BYTES,
  WEBHOOK_RESPONSE_HEAD_LINES_LIMIT,
  WEBHOOK_RESPONSE_LIMIT_BYTES,
} from '../../contract/limits.ts';

const LINE_FEED = 0x0a;
/** Begins the head that the body follows. After any other, such as that of a 103, there comes another head. */
const FINAL_STATUS = /^HTTP\/\d\.\d [2-9]/;
const STATUS_BYTES = 'HTTP/1.1 2'.length;

/**
 * Closes a connection when a response has more lines before its body, or more bytes in all, than an honest one. undici limits the
 * names and values of headers, and the sender limits the body. Neither sees how many headers, 1xx responses and empty lines there
 * are, or what lies between the chunks of a body, and all of that takes the time of the event loop.
 *
 * The bytes are checked in `push`, which Node calls with all that comes from the network, also with what TLS has decrypted. A
 * listener would come too late: undici parses what lies in the socket's buffer, even if the socket has been destroyed.
 */
export function limitResponses(socket: Socket): void {
  const push = socket.push.bind(socket);
  let writtenBytes = 0;
  let readBytes = 0;
  let early: Buffer[] = [];
  let head: Head | null = null;

  socket.push = (chunk: Buffer | null) => {
    if (chunk === null) return push(null);
    // Requests go out one at a time: what comes after one was written is its response.
    const { bytesWritten } = socket;
    if (bytesWritten !== writtenBytes) {
      writtenBytes = bytesWritten;
      readBytes = 0;
      early = [];
      head = null;
    }
    readBytes += chunk.length;
    // Most responses are so short that they can't have too many lines. Looking at each costs time on every webhook.
    if (readBytes <= WEBHOOK_RESPONSE_HEAD_LINES_LIMIT) {
      early.push(chunk);
      return push(chunk);
    }
    head ??= headOf(early);
    head.add(chunk);
    const problem = problemOf(head, readBytes);
    if (problem === null) return push(chunk);
    socket.destroy(new Error(problem));
    return false;
  };
}

function problemOf(head: Head, readBytes: number): string | null {
  if (head.lines() > WEBHOOK_RESPONSE_HEAD_LINES_LIMIT) {
    return `the response has too many header lines: more than ${WEBHOOK_RESPONSE_HEAD_LINES_LIMIT}`;
  }
  if (readBytes <= WEBHOOK_RESPONSE_LIMIT_BYTES) return null;
  const size = `more than ${WEBHOOK_RESPONSE_LIMIT_BYTES / 1_024} KiB`;
  if (!head.isOver()) return `the response is too large before its body: ${size}`;
  return `the response is too large for its body: ${size}, and less than ${WEBHOOK_RESPONSE_BODY_LIMIT_BYTES / 1_024} KiB of body`;
}

type Head = { add(chunk: Buffer): void; lines(): number; isOver(): boolean };

function headOf(chunks: Buffer[]): Head {
  const head = createHead();
  for (const chunk of chunks) head.add(chunk);
  return head;
}

/** Counts the lines before a response's body, those of 1xx responses included. It stops at one that is too many. */
function createHead(): Head {
  let lines = 0;
  let lineBytes = 0;
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
      for (let start = 0; start < chunk.length && !isOver && lines <= WEBHOOK_RESPONSE_HEAD_LINES_LIMIT; ) {
        const feed = chunk.indexOf(LINE_FEED, start);
        const end = feed === -1 ? chunk.length : feed;
        if (status.length < STATUS_BYTES) {
          status += chunk.toString('latin1', start, Math.min(end, start + STATUS_BYTES));
        }
        lineBytes += end - start;
        if (feed !== -1) endLine();
        start = end + 1;
      }
    },
    lines: () => lines,
    isOver: () => isOver,
  };
}
