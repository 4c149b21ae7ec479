import type { Readable, Writable } from 'node:stream';

/**
 * Messages with a picture each, on the pipes between the service and its process of pictures: the length of the head and of the
 * bytes, the head as JSON, the bytes. Node's own messages between processes would copy a picture of 25 MB in one go, while
 * nobody else is served.
 */
export type Frame<Head> = { head: Head; bytes: Buffer };

const LENGTHS_BYTES = 8;

export function writeFrame(stream: Writable, head: object, bytes: Uint8Array): void {
  const json = Buffer.from(JSON.stringify(head));
  const lengths = Buffer.allocUnsafe(LENGTHS_BYTES);
  lengths.writeUInt32BE(bytes.byteLength, lengths.writeUInt32BE(json.length, 0));
  stream.cork();
  stream.write(lengths);
  stream.write(json);
  stream.write(bytes);
  stream.uncork();
}

/** Ends with the stream. */
export async function* framesOf<Head>(stream: Readable): AsyncGenerator<Frame<Head>> {
  const take = takerOf(stream);
  for (;;) {
    const lengths = await take(LENGTHS_BYTES);
    if (lengths === null) return;
    const json = await take(lengths.readUInt32BE(0));
    const bytes = await take(lengths.readUInt32BE(4));
    if (json === null || bytes === null) return;
    yield { head: JSON.parse(json.toString()) as Head, bytes };
  }
}

/** Takes so many bytes from the stream, or null if it ends before. */
function takerOf(stream: Readable): (size: number) => Promise<Buffer | null> {
  const chunks: AsyncIterator<Buffer> = stream[Symbol.asyncIterator]();
  let rest = Buffer.alloc(0);
  return async (size) => {
    const taken = Buffer.allocUnsafe(size);
    let filled = 0;
    while (filled < size) {
      if (rest.length === 0) {
        const next = await chunks.next();
        if (next.done === true) return null;
        rest = next.value as typeof rest;
      }
      const part = rest.subarray(0, size - filled);
      taken.set(part, filled);
      filled += part.length;
      rest = rest.subarray(part.length);
    }
    return taken;
  };
}
