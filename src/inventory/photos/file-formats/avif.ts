import type { PictureHead } from './picture-head.ts';

const BOX_HEAD_BYTES = 8;
const LARGE_BOX_HEAD_BYTES = 16;
/** Version and flags, which some boxes begin with. */
const VERSION_BYTES = 4;
/** Files have some hundreds at most; one of 25 MB could have three million, and the service would read nothing else for seconds. */
const BOXES_MAX = 10_000;

type Range = { from: number; to: number };
type Box = { type: string; at: number; from: number; to: number };

/**
 * The largest of its pictures: a file has tiles and transparency beside the one that is shown. How they are decoded does not depend
 * on the file, so it is no more than counts for the format anyway.
 */
export function readAvifHead(bytes: Buffer): PictureHead | null {
  let largest: PictureHead | null = null;
  for (const { from, to } of partsOf(bytes)?.sizes ?? []) {
    if (to - from < 8) return null;
    const [width, height] = [bytes.readUInt32BE(from), bytes.readUInt32BE(from + 4)];
    if (largest === null || width * height > largest.width * largest.height) {
      largest = { width, height, wholeBytes: 0 };
    }
  }
  return largest;
}

/**
 * Cuts the references from descriptions to pictures: libheif copies every description that refers to one, unpacks it, and any number
 * may share the same bytes. Nothing may move, since the file names its parts by their place. The orientation is no description here.
 */
export function withoutAvifMetadata(bytes: Buffer): Buffer {
  for (const { at } of partsOf(bytes)?.descriptions ?? []) bytes.write('skip', at + 4, 'latin1');
  return bytes;
}

/** Null if the file has more boxes than are looked at. */
function partsOf(bytes: Buffer): { sizes: Box[]; descriptions: Box[] } | null {
  let left = BOXES_MAX;
  const boxesIn = (ranges: Range[], type: string, versionBytes = 0) => {
    const found: Box[] = [];
    for (const { from, to } of ranges) {
      for (let at = from; left > 0 && at + BOX_HEAD_BYTES <= to; left--) {
        const box = boxAt(bytes, at, to);
        if (box === null) break;
        if (box.type === type) found.push({ ...box, from: box.from + versionBytes });
        at = box.to;
      }
    }
    return found;
  };
  const metas = boxesIn([{ from: 0, to: bytes.length }], 'meta', VERSION_BYTES);
  const sizes = boxesIn(boxesIn(boxesIn(metas, 'iprp'), 'ipco'), 'ispe', VERSION_BYTES);
  const descriptions = boxesIn(boxesIn(metas, 'iref', VERSION_BYTES), 'cdsc');
  return left > 0 ? { sizes, descriptions } : null;
}

function boxAt(bytes: Buffer, at: number, end: number): Box | null {
  const length = bytes.readUInt32BE(at);
  const type = bytes.toString('latin1', at + 4, at + 8);
  if (length === 0) return { type, at, from: at + BOX_HEAD_BYTES, to: end };
  if (length !== 1) return boxUpTo({ type, at, from: at + BOX_HEAD_BYTES, to: at + length }, end);
  if (at + LARGE_BOX_HEAD_BYTES > end) return null;
  const large = Number(bytes.readBigUInt64BE(at + BOX_HEAD_BYTES));
  return boxUpTo({ type, at, from: at + LARGE_BOX_HEAD_BYTES, to: at + large }, end);
}

/** A box that is longer than what it is in ends with that. */
function boxUpTo(box: Box, end: number): Box | null {
  return box.to < box.from ? null : { ...box, to: Math.min(box.to, end) };
}
