import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { it } from 'node:test';
import { createSsrfGuard } from '../../webhooks/sending/ssrf-guard.ts';
import { openPhotoDownloads } from './download-photo.ts';

it('photos of a server that never answers are asked for a few times, then refused at once', async (t) => {
  let requests = 0;
  const server = createServer(() => {
    requests += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const downloads = openPhotoDownloads(createSsrfGuard(true), 'org_1', 10_000);
  t.after(async () => {
    await downloads.close();
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/photo.jpg`;
  for (let count = 0; count < 8; count++) {
    // Long enough for the request to arrive on a busy machine.
    await assert.rejects(downloads.download(url, 300), { message: `The photo at ${url} took too long.` });
  }
  const before = requests;
  await assert.rejects(downloads.download(url, 60_000), /was not tried, because others from there took too long/);
  assert.equal(requests, before);
  await assert.rejects(downloads.download('no address', 100), /must be an absolute URL/);
});
