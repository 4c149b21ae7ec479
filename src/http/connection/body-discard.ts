import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { hasTooManyHeaders } from './header-count.ts';

/**
 * Reads and drops what clients still send after their answer, for all connections through one budget of bytes a second.
 * Node reads such bytes as fast as they come: eight clients without a key, each sending 10 MiB again and again,
 * took the event loop (the p50 of others went from 2 to 180 ms). Without reading at all, a client that sends its
 * whole body before it reads would see a reset instead of its 401.
 *
 * A connection waits in the queue until its rest has been read. It is cut if it sends too much or takes too long, and the
 * oldest one is cut if there are too many.
 */
export type BodyDiscard = {
  /** Takes over the rest of the request's body, if there is one, as soon as the response has been written. */
  follow(request: IncomingMessage, response: ServerResponse): void;
  /** Reads what still comes on a connection that has no request, until it is destroyed. */
  drop(socket: Socket): void;
  /** Closes each connection after a short wait from now on, because the server is closing. */
  stop(): void;
};

export type DiscardLimits = {
  bytesPerSecond: number;
  /** What may be read at once after a time in which nothing was discarded. */
  burstBytes: number;
  /** How much one connection may still send. */
  bytesPerConnection: number;
  timeMs: number;
  connections: number;
};

const LIMITS: DiscardLimits = {
  bytesPerSecond: 16 * 1_048_576,
  burstBytes: 1_048_576,
  // More than the largest body that is accepted, which is a zip with photos of 200 MB.
  bytesPerConnection: 256 * 1_048_576,
  timeMs: 30_000,
  // Each connection holds up to 128 KiB that have arrived and were not read.
  connections: 256,
};
const EVERY_MS = 20;
/** How long a connection stays when the server closes: enough to read an answer that is there. */
const LINGER_MS = 1_000;

type Discarded = { source: Readable; socket: Socket; bytes: number; deadlineMs: number };

export function createBodyDiscard(given: Partial<DiscardLimits> = {}): BodyDiscard {
  const limits = { ...LIMITS, ...given };
  /** The first one is read next. */
  const queue = new Set<Discarded>();
  let timer: NodeJS.Timeout | null = null;
  let budgetBytes = limits.burstBytes;
  let refilledAtMs = performance.now();
  /** How long a connection may take from now on. */
  let { timeMs } = limits;

  function refill(): void {
    const nowMs = performance.now();
    const added = ((nowMs - refilledAtMs) / 1_000) * limits.bytesPerSecond;
    budgetBytes = Math.min(limits.burstBytes, budgetBytes + added);
    refilledAtMs = nowMs;
  }

  function add(source: Readable, socket: Socket): void {
    const [oldest] = queue;
    if (oldest !== undefined && queue.size >= limits.connections) {
      oldest.socket.destroy();
      // At once, or those that come before the socket has closed would all destroy the same one.
      queue.delete(oldest);
    }
    const entry = { source, socket, bytes: 0, deadlineMs: performance.now() + timeMs };
    queue.add(entry);
    const leave = () => {
      queue.delete(entry);
    };
    source.once('end', leave);
    source.once('close', leave);
    // Whatever read it before has stopped. With this listener the stream holds what has arrived and stops the socket.
    source.removeAllListeners('data');
    source.on('readable', () => {
      if (queue.has(entry) && budgetBytes > 0) take(entry);
    });
    // The bytes that have already arrived are read in any case.
    take(entry);
    if (timer !== null) return;
    refill();
    timer = setInterval(readAll, EVERY_MS).unref();
  }

  /** Reads all that has arrived: Node dumps a body of which nobody has asked for more, and drops the rest at full speed. */
  function take(entry: Discarded): void {
    let taken = 0;
    for (let chunk = entry.source.read(); chunk !== null; chunk = entry.source.read()) taken += chunk.length;
    if (taken === 0) return;
    // Never so far below zero that nothing could be read for long.
    budgetBytes = Math.max(-limits.burstBytes, budgetBytes - taken);
    entry.bytes += taken;
    if (entry.bytes > limits.bytesPerConnection) entry.socket.destroy();
    // It goes to the end of the queue, so the others are read first.
    if (queue.delete(entry)) queue.add(entry);
  }

  /** The budget is filled up here alone, so that a connection that waits is served before one on which more arrives. */
  function readAll(): void {
    refill();
    const nowMs = performance.now();
    for (const entry of [...queue]) {
      if (budgetBytes > 0) take(entry);
      if (nowMs > entry.deadlineMs) entry.socket.destroy();
      if (entry.socket.destroyed) queue.delete(entry);
    }
    if (queue.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  }

  return {
    follow(request, response) {
      if (!mayHaveBody(request)) return;
      // Before Node's own listener, which would begin to dump the body.
      response.prependListener('finish', () => {
        if (request.complete || request.destroyed || request.socket.destroyed) return;
        lingerUntilRead(request);
        add(request, request.socket);
      });
    },
    drop(socket) {
      add(socket, socket);
    },
    stop() {
      timeMs = Math.min(timeMs, LINGER_MS);
      const deadlineMs = performance.now() + timeMs;
      for (const entry of queue) entry.deadlineMs = Math.min(entry.deadlineMs, deadlineMs);
    },
  };
}

function mayHaveBody(request: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  return length !== undefined || encoding !== undefined || hasTooManyHeaders(request);
}

/**
 * Stops reading the body of a request that is refused. What has stopped listening to it leaves it flowing, and the answer
 * may have to wait until the client has read the answers before it.
 */
export function stopReading(request: IncomingMessage): void {
  if (!request.complete) request.pause();
}

/**
 * After an answer with "Connection: close" Node destroys the socket, and the system resets a connection with unread bytes: the
 * client would lose the answer. So only our side is closed at first, and the socket when the body has been read.
 */
function lingerUntilRead(request: IncomingMessage): void {
  const { socket } = request;
  let isLast = false;
  socket.destroySoon = () => {
    isLast = true;
    socket.end();
  };
  request.once('close', () => {
    Reflect.deleteProperty(socket, 'destroySoon');
    if (isLast) socket.destroySoon();
  });
}
