import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import sharp from 'sharp';
import { picture } from '../../../../test/harness/photos.ts';
import { childrenOf, until } from '../../../../test/service/service-process.ts';
import { prepareUpload } from '../encode-photos.ts';
import type { Conversion } from './conversion-messages.ts';
import { convertPhoto } from './converter.ts';
import { writeFrame } from './frames.ts';
import { PictureFault, PictureTooComplexError } from './picture-faults.ts';

const NICE_FIELD = 16;
const COPY: Conversion = { kind: 'variant', format: 'png', square: null };
const SLOW: Conversion = { kind: 'variant', format: 'avif', square: null };
const PLENTY = { memoryBytes: 1e9, cpuMs: 100_000 };
const LIMITS = { residentBytes: 2e9, cpuMs: 100_000 };

/** Those that wait for work have it as soon as there is some. */
async function processesOfPictures(): Promise<number[]> {
  return await childrenOf({ pid: process.pid }, 'conversion-process.ts');
}

/** It takes seconds to encode. */
async function noise(format: 'jpeg' | 'png'): Promise<Buffer> {
  const [width, height] = [2_500, 1_600];
  const raw = randomFillSync(Buffer.alloc(width * height * 3));
  return await sharp(raw, { raw: { width, height, channels: 3 } })
    .toFormat(format)
    .toBuffer();
}

/** As the system counts: 0 is ordinary, more is less. The name in the second field may contain blanks. */
async function niceOf(stat: string): Promise<number> {
  const fields = (await readFile(stat, 'utf8')).replace(/^.*\) /, '').split(' ');
  return Number(fields[NICE_FIELD]);
}

describe('the process of pictures', () => {
  it('converts many pictures at the same time, each its own', async () => {
    const sizes = Array.from({ length: 3 }, (_, index) => 10 + index);
    const converted = await Promise.all(
      sizes.map(async (side) =>
        convertPhoto({ kind: 'variant', format: 'png', square: null }, await picture('jpeg', side, 2 * side), PLENTY),
      ),
    );
    const metadata = await Promise.all(converted.map(({ bytes }) => sharp(bytes).metadata()));
    assert.deepEqual(
      metadata.map(({ format, width, height }) => [format, width, height]),
      sizes.map((side) => ['png', side, 2 * side]),
    );
    assert.deepEqual(
      converted.map(({ width, height }) => [width, height]),
      sizes.map((side) => [side, 2 * side]),
    );
  });

  it('says which picture is at fault, and goes on', async () => {
    const broken = (await picture('jpeg', 40, 40)).subarray(0, 60);
    await assert.rejects(convertPhoto({ kind: 'variant', format: 'webp', square: null }, broken, PLENTY), PictureFault);
    assert.equal((await convertPhoto(COPY, await picture('png', 7, 9), PLENTY)).height, 9);
  });

  it('waits for the processor behind everything else, and knows no setting of the service', async () => {
    await convertPhoto({ kind: 'variant', format: 'webp', square: null }, await picture('jpeg', 40, 40), PLENTY);
    const [pid] = await processesOfPictures();
    const own = await niceOf('/proc/self/stat');
    const threads = (await readdir(`/proc/${pid}/task`)).map((id) => `/proc/${pid}/task/${id}`);
    const names = await Promise.all(threads.map((thread) => readFile(`${thread}/comm`, 'utf8')));
    const decoding = threads.filter((_, index) => names[index]?.startsWith('libuv-worker'));
    assert.ok(decoding.length > 0, names.join());
    for (const thread of decoding) assert.ok((await niceOf(`${thread}/stat`)) > own);
    assert.equal(await readFile(`/proc/${pid}/environ`, 'utf8'), 'MALLOC_ARENA_MAX=2\0');
  });

  it('is started by a thread that serves nobody, since that stops it', async () => {
    await convertPhoto(COPY, await picture('png', 5, 5), PLENTY);
    const pids = await processesOfPictures();
    const ofMainThread = await readFile(`/proc/self/task/${process.pid}/children`, 'utf8');
    assert.deepEqual(
      pids.map((pid) => ofMainThread.split(' ').includes(String(pid))),
      pids.map(() => false),
    );
    assert.notEqual(pids.length, 0);
  });

  it('takes the bytes of a file, and copies what others use, too', async () => {
    const alone = new Uint8Array(await picture('png', 5, 5));
    const part = Buffer.from(alone);
    await convertPhoto(COPY, alone, PLENTY);
    await convertPhoto(COPY, part, PLENTY);
    assert.deepEqual([alone.byteLength, part.byteLength > 0], [0, true]);
  });

  it('that dies takes the pictures that it works on with it, and nothing else; the next picture starts another', async () => {
    const upload = await picture('jpeg', 400, 300);
    await convertPhoto(COPY, await picture('png', 5, 5), PLENTY);
    const pids = await processesOfPictures();
    const refused = assert.rejects(prepareUpload('org_1', upload), /could not be converted/);
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    await refused;
    await until(
      () => pids.every((pid) => !existsSync(`/proc/${pid}`)),
      () => 'they did not die',
    );
    assert.equal((await convertPhoto(COPY, await picture('png', 6, 5), PLENTY)).width, 6);
  });

  it('that crashes was crashed by its picture', async () => {
    const slow = await noise('png');
    await convertPhoto(COPY, await picture('png', 5, 5), PLENTY);
    const crashed = assert.rejects(convertPhoto(SLOW, slow, PLENTY), PictureFault);
    for (const pid of await processesOfPictures()) process.kill(pid, 'SIGSEGV');
    await crashed;
    assert.equal((await convertPhoto(COPY, await picture('png', 6, 5), PLENTY)).width, 6);
  });

  it('ignores what a terminal sends to all, and ends with its input', async () => {
    await convertPhoto(COPY, await picture('png', 5, 5), PLENTY);
    const pids = await processesOfPictures();
    for (const pid of pids) process.kill(pid, 'SIGINT');
    for (const pid of pids) process.kill(pid, 'SIGTERM');
    assert.equal((await convertPhoto(COPY, await picture('png', 8, 5), PLENTY)).width, 8);
    assert.deepEqual(await processesOfPictures(), pids);
    const another = spawn(process.execPath, [join(import.meta.dirname, 'conversion-process.ts')]);
    another.stdin.end();
    assert.deepEqual(await once(another, 'exit'), [0, null]);
  });

  it('ends without a word when the service is gone before a picture is done', async () => {
    const orphan = spawn(process.execPath, [join(import.meta.dirname, 'conversion-process.ts')]);
    const complaints = orphan.stderr.toArray();
    orphan.stdout.destroy();
    writeFrame(orphan.stdin, { conversion: COPY, limits: LIMITS }, await picture('png', 5, 5));
    assert.deepEqual(await once(orphan, 'exit'), [0, null]);
    assert.equal(Buffer.concat(await complaints).toString(), '');
  });

  it('ends in the middle of a picture when the service is gone', async () => {
    const orphan = spawn(process.execPath, [join(import.meta.dirname, 'conversion-process.ts')]);
    writeFrame(orphan.stdin, { conversion: SLOW, limits: LIMITS }, await noise('png'));
    orphan.stdin.end();
    assert.deepEqual(await once(orphan, 'exit'), [null, 'SIGKILL']);
  });

  it('refuses a picture that takes too much memory or time, and no other that is made at the same time', async () => {
    const slow = await noise('png');
    const other = convertPhoto(COPY, Buffer.from(slow), PLENTY);
    await assert.rejects(convertPhoto(SLOW, Buffer.from(slow), { ...PLENTY, cpuMs: 200 }), PictureTooComplexError);
    // A negative number of bytes stands for a process whose memory has grown by so much.
    await assert.rejects(
      convertPhoto(SLOW, Buffer.from(slow), { ...PLENTY, memoryBytes: -280e6 }),
      PictureTooComplexError,
    );
    assert.equal((await other).width, 2_500);
    assert.equal((await convertPhoto(COPY, await picture('png', 6, 5), PLENTY)).width, 6);
  });

  it('does not go on with a picture that nobody wants any more', async () => {
    const slow = await noise('jpeg');
    const leaving = new AbortController();
    const wanted = convertPhoto(SLOW, Buffer.from(slow), { ...PLENTY, signal: leaving.signal });
    let before: number[] = [];
    await until(
      async () => {
        before = await processesOfPictures();
        return before.length > 0;
      },
      () => 'no process works on it',
    );
    const left = new Error('the client has gone');
    leaving.abort(left);
    await assert.rejects(wanted, left);
    const now = await processesOfPictures();
    assert.ok(now.length < before.length, `${before} before, ${now} now`);
    await assert.rejects(convertPhoto(COPY, Buffer.from(slow), { ...PLENTY, signal: leaving.signal }), left);
  });
});
