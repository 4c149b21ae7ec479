import { isMarkedAsUntransferable } from 'node:worker_threads';

/** The bytes, fit to be moved to a thread: small buffers are parts of a larger one that others use, too. */
export function ownBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = bytes;
  const isAlone = buffer instanceof ArrayBuffer && byteLength > 0 && buffer.byteLength === byteLength;
  // What a native module has made can't be moved.
  return isAlone && !isMarkedAsUntransferable(buffer) ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes);
}
