import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { until } from '../harness/database/locks.ts';
import { BUCKET, startS3 } from '../harness/servers/s3.ts';
import { startService, sweep, temporaryFolder } from './service-process.ts';

after(sweep);

it('a service whose storage of photos hangs starts without it, and marks it when it answers', async (t) => {
  const s3 = await startS3();
  t.after(s3.stop);
  s3.faultOf = () => 'silent';
  const service = await startService({
    env: {
      DATA_DIR: await temporaryFolder(),
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
