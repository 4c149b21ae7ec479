import { createCompaction } from './compact.ts';
import { METADATA_BYTES_MAX, type PictureHead } from './picture-head.ts';

const START_BYTES = 2;
const [TEM, RST_FIRST, END, START_OF_SCAN, APP_FIRST, APP_LAST, COMMENT] = [0x01, 0xd0, 0xd9, 0xda, 0xe0, 0xef, 0xfe];
/** Those that lie between and are none of a frame: Huffman tables, arithmetic coding, and one that nobody uses. */
const NO_FRAMES = new Set([0xc4, 0xc8, 0xcc]);
const PROGRESSIVE = new Set([0xc2, 0xc6, 0xca, 0xce]);
const COEFFICIENT_BYTES = 2;
const BLOCK_SIDE = 8;
/** JFIF, Exif, profiles of colours, and how Adobe's colours are to be read. */
const KEPT: Record<number, string[]> = { 224: ['JFIF\0'], 225: ['Exif\0'], 226: ['ICC_PROFILE\0'], 238: ['Adobe'] };
const NAME_BYTES_MAX = 12;
/** Files have some hundreds at most; one of 25 MB could have six million, and the service would read nothing else for seconds. */
const SEGMENTS_MAX = 10_000;
/** What lies between them, for the same reason: files have some bytes, and to look through 25 MB took 110 ms. */
const STRAY_BYTES_MAX = 1_048_576;

type Segment = { marker: number; from: number; to: number };

export function readJpegHead(bytes: Buffer): PictureHead | null {
  let frame: Segment | null = null;
  for (const segment of segmentsOf(bytes)) {
    if (isFrame(segment.marker)) frame ??= segment;
    if (segment.marker === START_OF_SCAN) return frame && headOf(bytes, frame, segment);
  }
  return null;
}

function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && !NO_FRAMES.has(marker);
}

/** A progressive picture is kept as coefficients until its last scan, each component as densely as it is sampled. */
function headOf(bytes: Buffer, { marker, from }: Segment, scan: Segment): PictureHead | null {
  const at = from + 4;
  const components = bytes[at + 5] ?? 0;
  if (components === 0 || at + 6 + 3 * components > bytes.length) return null;
  const [height, width] = [bytes.readUInt16BE(at + 1), bytes.readUInt16BE(at + 3)];
  const samplings = Array.from({ length: components }, (_, index) => bytes[at + 7 + 3 * index] ?? 0);
  const across = samplings.map((sampling) => sampling >> 4);
  const down = samplings.map((sampling) => sampling & 15);
  const [mostAcross, mostDown] = [Math.max(1, ...across), Math.max(1, ...down)];
  const unitsAcross = Math.ceil(width / (BLOCK_SIDE * mostAcross));
  const unitsDown = Math.ceil(height / (BLOCK_SIDE * mostDown));
  const blocks = samplings.reduce((sum, _, index) => sum + (across[index] ?? 1) * (down[index] ?? 1), 0);
  const wholeBytes = unitsAcross * unitsDown * blocks * BLOCK_SIDE * BLOCK_SIDE * COEFFICIENT_BYTES;
  // Scans of single components need the same, in a frame of any kind.
  const isInOneScan = !PROGRESSIVE.has(marker) && bytes[scan.from + 4] === components;
  return { width, height, wholeBytes: isInOneScan ? 0 : wholeBytes };
}

/** Drops comments and what applications wrote; what follows the first scan stays as it is. */
export function withoutJpegMetadata(bytes: Buffer): Buffer {
  const compaction = createCompaction(bytes);
  compaction.keep(0, START_BYTES);
  let keptBytes = 0;
  let read = START_BYTES;
  for (const { marker, from, to } of segmentsOf(bytes)) {
    read = from;
    if (marker === START_OF_SCAN) break;
    read = to;
    const isMetadata = marker === COMMENT || (marker >= APP_FIRST && marker <= APP_LAST);
    if (isMetadata && !isKept(bytes, marker, from)) continue;
    if (isMetadata) keptBytes += to - from;
    if (!isMetadata || keptBytes <= METADATA_BYTES_MAX) compaction.keep(from, to);
  }
  compaction.keep(read, bytes.length);
  return compaction.kept();
}

function isKept(bytes: Buffer, marker: number, from: number): boolean {
  const name = bytes.toString('latin1', from + 4, from + 4 + NAME_BYTES_MAX);
  return KEPT[marker]?.some((kept) => name.startsWith(kept)) === true;
}

/** Up to the first scan. Whatever lies between two segments is passed over, as every decoder does. */
function* segmentsOf(bytes: Buffer): Generator<Segment> {
  let at = START_BYTES;
  let strayBytes = 0;
  for (let count = 0; count < SEGMENTS_MAX; count++) {
    const from = nextMarker(bytes, at, at + STRAY_BYTES_MAX - strayBytes);
    if (from === null || from + 4 > bytes.length) return;
    strayBytes += from - at;
    const marker = bytes[from + 1] ?? 0;
    const isAlone = marker === TEM || (marker >= RST_FIRST && marker <= END);
    at = from + 2 + (isAlone ? 0 : bytes.readUInt16BE(from + 2));
    yield { marker, from, to: at };
    if (marker === START_OF_SCAN) return;
  }
}

/** Null if there is none up to a place. Many 0xff may stand before a marker, and behind 0xff a zero is none. */
function nextMarker(bytes: Buffer, from: number, to: number): number | null {
  const end = Math.min(to + 2, bytes.length);
  let before = 0;
  for (let at = from; at < end; at++) {
    const byte = bytes[at] ?? 0;
    if (before === 0xff && byte !== 0xff && byte !== 0) return at - 1;
    before = byte;
  }
  return null;
}
