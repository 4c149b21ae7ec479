import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setImmediate as nextRound } from 'node:timers/promises';
import type { TokenBuckets } from '../../concurrency/limits/token-buckets.ts';
import { TLS_HANDSHAKE_LIMIT_BYTES } from '../../contract/limits.ts';
import { receiverTimes, untilPaid } from './receiver-time.ts';
import { threadMs } from './thread-time.ts';

/**
 * A TCP connection, under TLS or not, which takes the time of the event loop that its receiver makes it take. A certificate chain,
 * a flood of session tickets, an answer in records of one byte or in chunks of one byte costs the receiver little, and us seconds. So
 * what comes is passed on in small pieces, and the time of each is measured. The connections of a dealer who has used up a share
 * wait.
 */
export type MeteredStream = Duplex & {
  /** The handshake is over; until then, few bytes may come, because one certificate chain is verified in one go. */
  secured(): void;
};

const HANDSHAKE_PIECE_BYTES = 1_024;
const PIECE_BYTES = 4_096;
/** Pieces of honest receivers take less, and are not counted: a dealer may have hundreds of them, and thousands of webhooks in a second. */
const FREE_HANDSHAKE_MS = 5;
const FREE_MS = 0.5;
/** With the parser of the response and who reads it. A piece of a photo takes 0.02 to 0.05 ms, in chunks of one byte 20 times as long. */
const FREE_WITH_READER_MS = 0.2;

export type MeteringOptions = {
  times?: TokenBuckets;
  /** Counts what is done with the bytes, too. For a short answer it is always little, and most of it is our own bookkeeping. */
  withReader?: boolean;
};

/** `raw` is connected. */
export function createMeteredStream(raw: Socket, dealer: string, options: MeteringOptions = {}): MeteredStream {
  const { times = receiverTimes, withReader = false } = options;
  const freeMs = withReader ? FREE_WITH_READER_MS : FREE_MS;
  let isSecured = false;
  let handshakeBytes = 0;
  let onRead = () => {};

  async function pass(piece: Buffer): Promise<void> {
    const startedMs = threadMs();
    const hasRoom = stream.push(piece);
    // Who reads the stream is called in the tick that `push` asked for, so before this one.
    if (withReader) await new Promise<void>((resolve) => process.nextTick(resolve));
    const spentMs = threadMs() - startedMs;
    if (!hasRoom && !stream.destroyed) await new Promise<void>((resolve) => (onRead = resolve));
    if (spentMs <= (isSecured ? freeMs : FREE_HANDSHAKE_MS)) return;
    times.spend(dealer, spentMs);
    // Others come first.
    await nextRound();
  }

  async function passInPieces(chunk: Buffer): Promise<void> {
    for (let start = 0; start < chunk.length; ) {
      await untilPaid(times, dealer);
      const end = start + (isSecured ? PIECE_BYTES : HANDSHAKE_PIECE_BYTES);
      const piece = chunk.subarray(start, end);
      if (!isSecured) handshakeBytes += piece.length;
      if (handshakeBytes > TLS_HANDSHAKE_LIMIT_BYTES) throw new LargeHandshakeError();
      if (stream.destroyed) return;
      await pass(piece);
      start = end;
    }
  }

  async function passAll(): Promise<void> {
    for await (const chunk of raw) await passInPieces(chunk as Buffer);
    stream.push(null);
  }

  const stream = new Duplex({
    read: () => onRead(),
    write: (chunk: Buffer, _, done) => void raw.write(chunk, done),
    final: (done) => void raw.end(done),
    destroy(error, done) {
      raw.destroy();
      onRead();
      done(error);
    },
  });
  passAll().catch((error: Error) => stream.destroy(error));
  // That of a Socket, by which responses are told apart.
  Object.defineProperty(stream, 'bytesWritten', { get: () => raw.bytesWritten });
  return Object.assign(stream, {
    secured() {
      isSecured = true;
    },
  });
}

class LargeHandshakeError extends Error {
  readonly code = 'ERR_LARGE_HANDSHAKE';

  constructor() {
    super(
      `the TLS handshake has more than ${TLS_HANDSHAKE_LIMIT_BYTES / 1_024} KiB; is the certificate chain too long?`,
    );
  }
}
