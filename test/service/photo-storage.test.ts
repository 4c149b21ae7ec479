import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { promisify } from 'node:util';
import { until } from '../harness/database/locks.ts';
import { BUCKET, startS3 } from '../harness/servers/s3.ts';
import { DEMO_KEY, migratedFolder, seededFolder, startService, sweep } from './service-process.ts';

after(sweep);

it('a service whose storage of photos hangs starts without it, and marks it when it answers', async (t) => {
  const s3 = await startS3();
  t.after(s3.stop);
  s3.faultOf = () => 'silent';
  const service = await startService({
    env: {
      DATA_DIR: await migratedFolder(),
      DEMO: 'off',
      PHOTO_STORAGE: 's3',
      PHOTO_S3_BUCKET: BUCKET,
      PHOTO_S3_ENDPOINT: s3.endpoint,
      PHOTO_S3_ACCESS_KEY_ID: 'id',
      PHOTO_S3_SECRET_ACCESS_KEY: 'secret',
    },
  });
  await service.isHealthy();
  assert.match(service.err(), /the storage of photos does not answer/);
  s3.faultOf = () => null;
  await until(async () => s3.objects.has('crownwheel-installation.json'), 'the storage was not marked');
  service.signal('SIGTERM');
  assert.equal(await service.exit(), 0);
});

it('a disk of photos that does not answer stops nothing else, and not the end of the service either', async () => {
  const dataDir = await seededFolder();
  const service = await startService({ env: { DATA_DIR: dataDir } });
  await service.isHealthy();
  const list = (limit: number) =>
    fetch(`${service.origin}/api/v1/listings?limit=${limit}`, {
      headers: { authorization: `Bearer ${DEMO_KEY}`, 'accept-encoding': 'gzip' },
    });
  const { data } = (await (await list(20)).json()) as { data: { photos: { url: string }[] }[] };
  const paths = data.flatMap(({ photos }) => photos.map(({ url }) => new URL(url).pathname)).slice(0, 16);
  for (const path of paths) await (await fetch(service.origin + path)).arrayBuffer();
  await replaceByPipes(join(dataDir, 'photos'), paths);

  const leaving = new AbortController();
  const waiting = paths.map((path) => fetch(service.origin + path, { signal: leaving.signal }).catch(() => null));
  // More lists than there are threads, and none of them was asked for before.
  const answers = await Promise.all(Array.from({ length: 15 }, (_, index) => list(index + 1)));
  for (const answer of answers) {
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('content-encoding'), 'gzip');
    await answer.arrayBuffer();
  }
  leaving.abort();
  await Promise.all(waiting);
  service.signal('SIGTERM');
  await service.exit();
  assert.match(service.out(), /Stopped\.\n$/);
  assert.match(service.err(), /the disk with the photos does not answer/);
});

/** Whoever opens a pipe to read it waits until somebody writes to it. */
async function replaceByPipes(photosDir: string, paths: string[]): Promise<void> {
  for (const path of paths) {
    const [photoId = ''] = /pho_\w{26}/.exec(path) ?? [];
    const folder = join(photosDir, photoId.slice(-2), photoId);
    for (const name of await readdir(folder)) {
      await rm(join(folder, name));
      await promisify(execFile)('mkfifo', [join(folder, name)]);
    }
  }
}
