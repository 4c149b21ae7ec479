import { createCompaction } from './compact.ts';
import { METADATA_BYTES_MAX, type PictureHead } from './picture-head.ts';

/** RIFF, the length of what follows, WEBP. */
const FILE_HEAD_BYTES = 12;
const CHUNK_HEAD_BYTES = 8;
const PICTURE = new Set(['VP8X', 'VP8 ', 'VP8L', 'ALPH', 'ANIM', 'ANMF']);
/** Each once. */
const KEPT = new Set(['ICCP', 'EXIF']);
/** It is decoded whole, with transparency or not. */
const PIXEL_BYTES = 4;

export function readWebpHead(bytes: Buffer): PictureHead | null {
  const at = FILE_HEAD_BYTES + CHUNK_HEAD_BYTES;
  if (bytes.length < at + 10) return null;
  const size = sizeOf(bytes.toString('latin1', FILE_HEAD_BYTES, FILE_HEAD_BYTES + 4), bytes.subarray(at, at + 10));
  return size && { ...size, wholeBytes: size.width * size.height * PIXEL_BYTES };
}

function sizeOf(type: string, chunk: Buffer): { width: number; height: number } | null {
  switch (type) {
    case 'VP8X':
      return { width: chunk.readUIntLE(4, 3) + 1, height: chunk.readUIntLE(7, 3) + 1 };
    case 'VP8 ':
      return { width: chunk.readUInt16LE(6) & 0x3fff, height: chunk.readUInt16LE(8) & 0x3fff };
    case 'VP8L': {
      const bits = chunk.readUInt32LE(1);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    default:
      return null;
  }
}

export function withoutWebpMetadata(bytes: Buffer): Buffer {
  const compaction = createCompaction(bytes);
  const seen = new Set<string>();
  compaction.keep(0, FILE_HEAD_BYTES);
  for (let at = FILE_HEAD_BYTES; at + CHUNK_HEAD_BYTES <= bytes.length; ) {
    const type = bytes.toString('latin1', at, at + 4);
    const length = bytes.readUInt32LE(at + 4);
    const end = at + CHUNK_HEAD_BYTES + length + (length % 2);
    const isKept = KEPT.has(type) && !seen.has(type) && length <= METADATA_BYTES_MAX;
    if (KEPT.has(type)) seen.add(type);
    if (isKept || PICTURE.has(type)) compaction.keep(at, end);
    at = end;
  }
  const kept = compaction.kept();
  // A file that was cut off must not look whole.
  const isWhole = bytes.length >= CHUNK_HEAD_BYTES + bytes.readUInt32LE(4);
  if (isWhole) kept.writeUInt32LE(kept.length - CHUNK_HEAD_BYTES, 4);
  return kept;
}
