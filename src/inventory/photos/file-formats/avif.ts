import type { PictureHead } from './picture-head.ts';

const BOX_HEAD_BYTES = 8;
const LARGE_BOX_HEAD_BYTES = 16;
/** Version and flags, which some boxes begin with. */
const VERSION_BYTES = 4;
/** Files have some dozens; one of 25 MB could have three million. */
const BOXES_MAX = 10_000;

type Box = { type: string; at: number; from: number; to: number };

/**
 * The largest of its pictures: a file has tiles and transparency beside the one that is shown. How they are decoded does not depend
 * on the file, so it is no more than counts for the format anyway.
 */
export function readAvifHead(bytes: Buffer): PictureHead | null {
  let largest: PictureHead | null = null;
  for (const properties of boxesIn(bytes, metaOf(bytes), 'iprp', 'ipco')) {
    for (const { from, to } of boxesOf(bytes, properties, 'ispe')) {
      if (to - from < VERSION_BYTES + 8) return null;
      const [width, height] = [bytes.readUInt32BE(from + VERSION_BYTES), bytes.readUInt32BE(from + VERSION_BYTES + 4)];
      if (largest === null || width * height > largest.width * largest.height) {
        largest = { width, height, wholeBytes: 0 };
      }
    }
  }
  return largest;
}

/**
 * Cuts the references from descriptions to pictures: libheif copies every description that refers to one, unpacks it, and any number
 * may share the same bytes. Nothing may move, since the file names its parts by their place. The orientation is no description here.
 */
export function withoutAvifMetadata(bytes: Buffer): Buffer {
  for (const references of boxesIn(bytes, metaOf(bytes), 'iref')) {
    const list = { from: references.from + VERSION_BYTES, to: references.to };
    for (const { at } of boxesOf(bytes, list, 'cdsc')) bytes.write('skip', at + 4, 'latin1');
  }
  return bytes;
}

type Range = { from: number; to: number };

function metaOf(bytes: Buffer): Range[] {
  return boxesOf(bytes, { from: 0, to: bytes.length }, 'meta').map(({ from, to }) => ({
    from: from + VERSION_BYTES,
    to,
  }));
}

function boxesIn(bytes: Buffer, ranges: Range[], ...path: string[]): Range[] {
  return path.reduce((inside, type) => inside.flatMap((range) => boxesOf(bytes, range, type)), ranges);
}

function boxesOf(bytes: Buffer, { from, to }: Range, type: string): Box[] {
  const boxes: Box[] = [];
  let at = from;
  for (let count = 0; count < BOXES_MAX && at + BOX_HEAD_BYTES <= to; count++) {
    const box = boxAt(bytes, at, to);
    if (box === null) return boxes;
    if (box.type === type) boxes.push(box);
    at = box.to;
  }
  return boxes;
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
