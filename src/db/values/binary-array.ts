/** What the server calls the type of the elements. */
const TYPE_OIDS = { text: 25, bytea: 17 } as const;
const HEAD_BYTES = 20;
const LENGTH_BYTES = 4;
const NULL_LENGTH = -1;

export type BinaryElement = string | Uint8Array | null | undefined;

/**
 * Texts or bytes as an array in the server's binary format: lengths and bytes, nothing escaped. In its notation
 * (`{"a \\"quote\\"",NULL}`) each quote of a document is escaped here and read byte by byte there.
 */
export class BinaryArray {
  readonly type: keyof typeof TYPE_OIDS;
  readonly elements: readonly BinaryElement[];

  constructor(type: keyof typeof TYPE_OIDS, elements: readonly BinaryElement[]) {
    this.type = type;
    this.elements = elements;
  }

  encode(): Buffer {
    const lengths = this.elements.map(lengthOf);
    const size = lengths.reduce((sum, length) => sum + LENGTH_BYTES + Math.max(0, length), HEAD_BYTES);
    const buffer = Buffer.allocUnsafe(size);
    let offset = this.#writeHead(buffer, lengths.includes(NULL_LENGTH));
    for (const [index, element] of this.elements.entries()) {
      offset = buffer.writeInt32BE(lengths[index] as number, offset);
      if (typeof element === 'string') offset += buffer.write(element, offset);
      else if (element !== null && element !== undefined) {
        buffer.set(element, offset);
        offset += element.byteLength;
      }
    }
    return buffer;
  }

  #writeHead(buffer: Buffer, hasNulls: boolean): number {
    let offset = buffer.writeInt32BE(1, 0);
    offset = buffer.writeInt32BE(hasNulls ? 1 : 0, offset);
    offset = buffer.writeInt32BE(TYPE_OIDS[this.type], offset);
    offset = buffer.writeInt32BE(this.elements.length, offset);
    return buffer.writeInt32BE(1, offset);
  }
}

function lengthOf(element: BinaryElement): number {
  if (element === null || element === undefined) return NULL_LENGTH;
  return typeof element === 'string' ? Buffer.byteLength(element) : element.byteLength;
}
