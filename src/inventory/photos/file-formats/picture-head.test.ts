import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { crc32, deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { picture } from '../../../../test/harness/photos.ts';
import { childrenOf } from '../../../../test/service/service-process.ts';
import { prepareUpload } from '../encode-photos.ts';
import type { PhotoFormat } from '../photo-variants.ts';
import { readPictureHead, withoutMetadata } from './picture-head.ts';

const FORMATS: PhotoFormat[] = ['jpeg', 'png', 'webp', 'avif'];
const IHDR_END = 33;
const JPEG_START = 2;

function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

function jpegSegment(marker: number, data: Buffer): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(data.length + 2, 2);
  return Buffer.concat([head, data]);
}

function box(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(head.length + body.length, 0);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, body]);
}

function insert(bytes: Buffer, at: number, ...parts: Buffer[]): Buffer {
  return Buffer.concat([bytes.subarray(0, at), ...parts, bytes.subarray(at)]);
}

async function described(format: PhotoFormat): Promise<Buffer> {
  return await sharp({ create: { width: 60, height: 40, channels: 3, background: '#a53' } })
    .toFormat(format)
    .withExif({ IFD0: { ImageDescription: 'described' } })
    .withXmp('<x:xmpmeta xmlns:x="adobe:ns:meta/"><secret/></x:xmpmeta>')
    .withIccProfile('p3')
    .toBuffer();
}

describe('the head of a picture', () => {
  it('says the size of every format', async () => {
    for (const format of FORMATS) {
      const head = readPictureHead(format, await picture(format, 123, 45));
      assert.deepEqual([head?.width, head?.height], [123, 45], format);
    }
    const create = { width: 70, height: 31, channels: 4, background: '#abcd' } as const;
    for (const lossless of [true, false]) {
      const head = readPictureHead('webp', await sharp({ create }).webp({ lossless }).toBuffer());
      assert.deepEqual([head?.width, head?.height], [70, 31]);
    }
  });

  it('counts what a decoder keeps of the whole picture', async () => {
    const bare = sharp({ create: { width: 64, height: 48, channels: 3, background: '#a53' } });
    const wholeBytes = async (file: Promise<Buffer>, format: PhotoFormat) =>
      readPictureHead(format, await file)?.wholeBytes;
    const jpeg = (progressive: boolean, chromaSubsampling: string) =>
      wholeBytes(bare.clone().jpeg({ progressive, chromaSubsampling }).toBuffer(), 'jpeg');
    assert.equal(await jpeg(false, '4:4:4'), 0);
    assert.equal(await jpeg(true, '4:4:4'), 64 * 48 * 3 * 2);
    assert.equal(await jpeg(true, '4:2:0'), 64 * 48 * 3);
    const cmyk = bare.clone().toColourspace('cmyk').jpeg({ progressive: true, chromaSubsampling: '4:4:4' }).toBuffer();
    assert.equal(await wholeBytes(cmyk, 'jpeg'), 64 * 48 * 4 * 2);
    const png = (progressive: boolean) => wholeBytes(bare.clone().png({ progressive }).toBuffer(), 'png');
    assert.equal(await png(false), 0);
    assert.equal(await png(true), 64 * 48 * 3);
  });

  it('is read over bytes between two segments, which every viewer forgives', async () => {
    const jpeg = await picture('jpeg', 20, 10);
    const second = JPEG_START + 2 + jpeg.readUInt16BE(JPEG_START + 2);
    for (const between of [[0], [1, 2, 3], [0xff, 0], [0xff, 0xff, 0xff]]) {
      const file = insert(jpeg, second, Buffer.from(between));
      assert.equal((await prepareUpload('org_1', file)).width, 20, between.join());
      assert.deepEqual(withoutMetadata('jpeg', file), jpeg, between.join());
    }
  });

  it('is null if there is a megabyte between two segments, since nothing else is done while it is looked through', async () => {
    const jpeg = await picture('jpeg', 20, 10);
    const second = JPEG_START + 2 + jpeg.readUInt16BE(JPEG_START + 2);
    for (const stray of [Buffer.alloc(1), Buffer.from([0xff]), Buffer.from([0xff, 0])]) {
      assert.ok(readPictureHead('jpeg', insert(jpeg, second, Buffer.alloc(1_000_000, stray))), stray.toString('hex'));
      const parts = [second, JPEG_START].reduce((file, at) => insert(file, at, Buffer.alloc(600_000, stray)), jpeg);
      assert.equal(readPictureHead('jpeg', parts), null, stray.toString('hex'));
    }
  });

  it('is null if the file has many more parts than a picture has, since nothing else is done while they are read', async () => {
    const parts = (part: Buffer) => Buffer.concat(Array.from({ length: 11_000 }, () => part));
    const jpeg = await picture('jpeg', 20, 10);
    assert.ok(readPictureHead('jpeg', insert(jpeg, JPEG_START, jpegSegment(0xe5, Buffer.alloc(0)))));
    const scan = jpeg.indexOf(Buffer.from([0xff, 0xda]));
    for (const at of [JPEG_START, scan]) {
      const file = insert(jpeg, at, parts(jpegSegment(0xe5, Buffer.alloc(0))));
      assert.equal(readPictureHead('jpeg', file), null);
    }
    const avif = await picture('avif', 20, 10);
    const free = box('free', Buffer.alloc(0));
    assert.ok(readPictureHead('avif', Buffer.concat([avif, free])));
    assert.equal(readPictureHead('avif', Buffer.concat([avif, parts(free)])), null);
    const references = box('iref', Buffer.concat([Buffer.alloc(4), parts(box('cdsc', Buffer.alloc(6)))]));
    const described = box('meta', Buffer.concat([Buffer.alloc(4), references]));
    assert.equal(readPictureHead('avif', Buffer.concat([avif, described])), null);
  });

  it('is null, and nothing throws, wherever the file is cut off or changed', async () => {
    for (const format of FORMATS) {
      const whole = await described(format);
      for (let length = 0; length < Math.min(whole.length, 900); length++) {
        readPictureHead(format, Buffer.from(whole.subarray(0, length)));
        if (length >= 12) withoutMetadata(format, Buffer.from(whole.subarray(0, length)));
        const changed = Buffer.from(whole);
        changed[length] = 0xff;
        readPictureHead(format, changed);
        withoutMetadata(format, changed);
      }
      assert.equal(readPictureHead(format, whole.subarray(0, 20)), null, format);
    }
  });
});

describe('a picture without its metadata', () => {
  it('looks the same and keeps its profile of colours, but no text', async () => {
    for (const format of FORMATS) {
      const file = await described(format);
      const before = await sharp(file).raw().toBuffer();
      assert.ok((await sharp(file).metadata()).xmp, `${format} has no text to drop`);
      const stripped = withoutMetadata(format, Buffer.from(file));
      const metadata = await sharp(stripped).metadata();
      assert.equal(metadata.xmp, undefined, format);
      assert.ok(metadata.icc, `${format} has lost its profile`);
      assert.deepEqual(await sharp(stripped).raw().toBuffer(), before);
    }
  });

  it('keeps its orientation', async () => {
    for (const format of ['jpeg', 'png', 'webp'] as const) {
      const lying = await sharp(await picture(format, 60, 40))
        .withMetadata({ orientation: 6 })
        .toBuffer();
      const { width, height } = await prepareUpload('org_1', lying);
      assert.deepEqual([width, height], [40, 60], format);
    }
  });

  it('has none of the texts and applications’ data, however many there are', async () => {
    const text = deflateSync(Buffer.alloc(7_900_000, 'a'), { level: 9 });
    const texts = Array.from({ length: 40 }, (_, index) => [
      pngChunk('zTXt', Buffer.concat([Buffer.from(`k${index}\0\0`), text])),
      pngChunk('iTXt', Buffer.concat([Buffer.from(`i${index}`), Buffer.from([0, 1, 0, 0, 0]), text])),
    ]).flat();
    const png = await picture('png', 20, 10);
    const bomb = insert(png, IHDR_END, ...texts);
    await prepareUpload('org_1', Buffer.from(bomb));
    for (const pid of await childrenOf({ pid: process.pid }, 'conversion-process.ts')) {
      const [, kibibytes] = /VmHWM:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? [];
      assert.ok(Number(kibibytes) < 300_000, `the process of pictures took ${kibibytes} KiB`);
    }
    assert.deepEqual(withoutMetadata('png', bomb).length, png.length);
    const segments = [0xe1, 0xe2, 0xe5, 0xfe].map((marker) => jpegSegment(marker, Buffer.alloc(60_000, 'x')));
    const jpeg = await picture('jpeg', 20, 10);
    assert.deepEqual(withoutMetadata('jpeg', insert(jpeg, JPEG_START, ...segments)), jpeg);
    const profiles = Array.from({ length: 90 }, (_, index) =>
      jpegSegment(
        0xe2,
        Buffer.concat([Buffer.from('ICC_PROFILE\0'), Buffer.from([index + 1, 90]), Buffer.alloc(60_000)]),
      ),
    );
    assert.ok(withoutMetadata('jpeg', insert(jpeg, JPEG_START, ...profiles)).length < 5_000_000);
    const webp = await described('webp');
    const unknown = Buffer.concat([Buffer.from('TEXT'), Buffer.from([16, 39, 0, 0]), Buffer.alloc(10_000)]);
    assert.equal(withoutMetadata('webp', Buffer.concat([webp, unknown])).includes('TEXT'), false);
  });
});
