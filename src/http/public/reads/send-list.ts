import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Release } from '../../../concurrency/limits/keyed-semaphore.ts';
import { ApiError } from '../../../contract/errors.ts';
import type { Encoding } from '../../accept-encoding.ts';
import { onceClosed } from '../../connection/once-closed.ts';
import { createCompressor } from './compression.ts';
import type { ListPiece, ListStream } from './list-body.ts';

export type SendOptions = {
  /** How long a client may take for one piece, or for an answer that is no larger. */
  pieceLimitMs: number;
  /** Gives back the bytes that the answer counts for while it is on its way. */
  release: Release;
};

/** For bytes that are in memory until they are sent. A client that does not take them in time is cut. */
export function limitSending(response: ServerResponse, { pieceLimitMs, release }: SendOptions): void {
  const timer = setTimeout(() => response.destroy(), pieceLimitMs);
  onceClosed(response, () => {
    clearTimeout(timer);
    release();
  });
}

/** The answer to HEAD where the length of the body is not known: it has no Content-Length. */
export function sendHead(reply: FastifyReply): FastifyReply {
  reply.hijack();
  reply.raw.writeHead(reply.statusCode, reply.getHeaders() as OutgoingHttpHeaders);
  reply.raw.end();
  return reply;
}

export type StreamOptions = SendOptions & {
  waitForBytes(): Promise<Release>;
  /** Waits after a piece of so many bytes, so that large pages leave the event loop to others. */
  pace(bytes: number): Promise<void>;
};

/**
 * Sends a page piece by piece, with backpressure: the next piece is read when the client has taken the one before and its
 * turn has come, so a page of any size needs the memory of one piece and a small part of the event loop's time. The answer
 * has begun by then: whatever goes wrong cuts the connection, and the client sees that the body has no end.
 */
export async function sendStream(
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  stream: ListStream,
  encoding: Encoding,
  options: StreamOptions,
): Promise<FastifyReply> {
  let { release } = options;
  reply.hijack();
  const compressor = createCompressor(encoding);
  const target = compressor ?? reply.raw;
  try {
    reply.raw.writeHead(reply.statusCode, reply.getHeaders() as OutgoingHttpHeaders);
    compressor?.pipe(reply.raw);
    let piece: ListPiece | null = stream.first;
    while (piece !== null) {
      await taken(reply.raw, target, piece.parts, options.pieceLimitMs);
      const { next }: ListPiece = piece;
      const length = piece.parts.reduce((sum, part) => sum + part.length, 0);
      piece = null;
      release();
      if (next >= stream.count) break;
      await options.pace(length);
      release = await options.waitForBytes();
      piece = await stream.piece(next);
    }
    target.end();
  } catch (error) {
    cut(request, reply, error);
    compressor?.destroy();
  } finally {
    release();
  }
  return reply;
}

class ClientError extends Error {
  override readonly name = 'ClientError';
}

/** Settles when the client has taken the bytes, all but what the sockets hold. */
async function taken(
  raw: ServerResponse,
  target: NodeJS.WritableStream,
  parts: Buffer[],
  limitMs: number,
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => end(new ClientError('the client reads too slowly')), limitMs);
    const onClose = () => end(new ClientError('the client has gone'));
    const end = (error?: Error | null) => {
      clearTimeout(timer);
      raw.off('close', onClose);
      if (error == null) resolve();
      else reject(error);
    };
    raw.once('close', onClose);
    if (raw.destroyed) return onClose();
    raw.cork();
    for (const part of parts.slice(0, -1)) target.write(part);
    target.write(parts.at(-1) ?? '', end);
    raw.uncork();
  });
}

/** If the client has gone, whatever was waited for ends in an error that is nobody's fault. */
function cut(request: FastifyRequest, reply: FastifyReply, error: unknown): void {
  if (!(error instanceof ClientError) && !reply.raw.closed)
    request.fault = new ApiError('query_failed', { cause: error });
  reply.raw.destroy();
}
