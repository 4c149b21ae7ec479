import { PHOTO_LIMIT_BYTES } from '../../src/contract/limits.ts';
import { readPictureHead, withoutMetadata } from '../../src/inventory/photos/file-formats/picture-head.ts';
import { type Parser, row } from './parser.ts';

/** A tenth of what is accepted, so that the whole does not take minutes. */
const PICTURE_BYTES = PHOTO_LIMIT_BYTES / 10;
const FORMATS = ['jpeg', 'png', 'webp', 'avif'] as const;

export const PICTURE_PARSERS: Parser[] = FORMATS.map((format) =>
  row<Buffer>({
    name: `the head of a picture as ${format}`,
    limit: PICTURE_BYTES,
    worst: {
      'bytes that fill': (length) => Buffer.alloc(length, 0xff),
      'bytes between segments': (length) => Buffer.alloc(length, 'ff00', 'hex'),
      'empty segments': (length) => Buffer.alloc(length, 'ffe50002', 'hex'),
      'empty chunks': (length) => Buffer.alloc(length, '000000004944415400000000', 'hex'),
      'empty boxes': (length) => Buffer.alloc(length, '0000000866726565', 'hex'),
    },
    parse(bytes) {
      readPictureHead(format, bytes);
      withoutMetadata(format, bytes);
    },
  }),
);
