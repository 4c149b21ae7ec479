import { createCompaction } from './compact.ts';
import { METADATA_BYTES_MAX, type PictureHead } from './picture-head.ts';

const SIGNATURE_BYTES = 8;
/** Length, type and checksum. */
const CHUNK_FRAME_BYTES = 12;
/** Length and type, the 13 bytes of IHDR, its checksum. */
const HEAD_BYTES = 33;
const CHANNELS_OF_COLOUR_TYPE: Record<number, number> = { 0: 1, 2: 3, 3: 4, 4: 2, 6: 4 };
/** Each may stand there once. A file that repeats one is damaged. */
const KEPT = new Set(['tRNS', 'gAMA', 'cHRM', 'sRGB', 'iCCP', 'cICP', 'sBIT', 'pHYs', 'eXIf']);

export function readPngHead(bytes: Buffer): PictureHead | null {
  if (bytes.length < HEAD_BYTES || bytes.toString('latin1', 12, 16) !== 'IHDR') return null;
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  const [depth = 8, colourType = 6, , , interlace] = bytes.subarray(24, 29);
  const pixelBytes = (CHANNELS_OF_COLOUR_TYPE[colourType] ?? 4) * (depth > 8 ? 2 : 1);
  return { width, height, wholeBytes: interlace === 0 ? 0 : width * height * pixelBytes };
}

/** Critical chunks, whose type begins with a capital letter, and of the others those that change how the picture looks. */
export function withoutPngMetadata(bytes: Buffer): Buffer {
  const compaction = createCompaction(bytes);
  const seen = new Set<string>();
  compaction.keep(0, SIGNATURE_BYTES);
  for (let at = SIGNATURE_BYTES; at + CHUNK_FRAME_BYTES <= bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const isCritical = ((bytes[at + 4] ?? 0) & 0x20) === 0;
    const type = isCritical ? '' : bytes.toString('latin1', at + 4, at + 8);
    const end = at + CHUNK_FRAME_BYTES + length;
    const isKept = isCritical || (KEPT.has(type) && !seen.has(type) && length <= METADATA_BYTES_MAX);
    if (!isCritical) seen.add(type);
    if (isKept) compaction.keep(at, end);
    at = end;
  }
  return compaction.kept();
}
