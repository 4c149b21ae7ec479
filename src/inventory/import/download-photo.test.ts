import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { it } from 'node:test';
import { receiverTimes } from '../../webhooks/sending/receiver-time.ts';
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

it('a photo in chunks of one byte is read, and takes the time of its dealer, not that of the others', async (t) => {
  const bytes = 200_000;
  const server = createServer((request, response) => {
    if (request.url !== '/cut.jpg') {
      response.end(Buffer.alloc(bytes, 'A'));
      return;
    }
    response.flushHeaders();
    response.socket?.write(`${'1\r\nA\r\n'.repeat(bytes)}0\r\n\r\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const guard = createSsrfGuard(true);
  const [whole, cut] = ['org_whole', 'org_cut'].map((dealer) => openPhotoDownloads(guard, dealer, 10_000));
  assert.ok(whole && cut);
  let mostDebtMs = 0;
  const watch = setInterval(() => {
    mostDebtMs = Math.max(mostDebtMs, receiverTimes.debtMs('org_cut'));
  }, 1);
  t.after(async () => {
    clearInterval(watch);
    await Promise.all([whole.close(), cut.close()]);
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  // Twice on one connection.
  for (const path of ['/whole.jpg', '/more.jpg']) {
    assert.equal((await whole.download(origin + path, 60_000)).length, bytes);
  }
  assert.equal((await cut.download(`${origin}/cut.jpg`, 60_000)).length, bytes);
  assert.ok(mostDebtMs > 0);
});
