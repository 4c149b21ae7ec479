import { setTimeout as sleep } from 'node:timers/promises';
import { BULK_BODY_LIMIT_BYTES } from '../../src/contract/limits.ts';
import { type Attack, scaled } from './attack.ts';

const DRIP_MS = 200;
/** So that the service has accepted all of them. */
const OPEN_MS = 200;
/** With so many connections each they have more than a process may have open by the usual limit of 20,000 files. */
const ADDRESSES = 40;

export const CONNECTION_ATTACKS: Attack[] = [
  {
    name: 'idle connections (no key)',
    async run(scene) {
      for (let index = 0; index < scaled(scene, 1_000); index++) scene.client.open();
      await scene.client.timeIsUp();
    },
  },
  {
    name: 'connections that all close at once (no key)',
    async run(scene) {
      while (!scene.client.signal.aborted) {
        const sockets = Array.from({ length: scaled(scene, 2_000) }, () => scene.client.open());
        await Promise.all(
          sockets.map((socket) => new Promise((settle) => socket.once('connect', settle).once('close', settle))),
        );
        await sleep(OPEN_MS);
        for (const socket of sockets) socket.destroy();
      }
    },
  },
  {
    name: 'headers that drip (no key)',
    async run(scene) {
      const { client } = scene;
      const sockets = Array.from({ length: scaled(scene, 500) }, () => client.open());
      for (const socket of sockets) socket.write('GET /api/v1/health HTTP/1.1\r\nHost: attack\r\nX-Long: ');
      while (!client.signal.aborted) {
        for (const socket of sockets) if (socket.writable) socket.write('x');
        await sleep(DRIP_MS, undefined, { signal: client.signal }).catch(() => {});
      }
    },
  },
  {
    name: 'connections of many addresses (no key)',
    async run(scene) {
      const { client } = scene;
      const hold = (address: number) => {
        const socket = client.open(address);
        socket.write('GET /api/v1/health HTTP/1.1\r\nHost: attack\r\nX-Long: ');
        socket.once('close', () => void reopen(address));
      };
      const reopen = async (address: number) => {
        await sleep(DRIP_MS);
        if (!client.signal.aborted) hold(address);
      };
      for (let address = 1; address <= ADDRESSES && !client.signal.aborted; address++) {
        for (let index = 0; index < scaled(scene, 450); index++) hold(address);
        await sleep(OPEN_MS);
      }
      await client.timeIsUp();
    },
  },
  {
    name: 'new connections as fast as possible (no key)',
    run: (scene) =>
      scene.client.flood({ count: scaled(scene, 5_000), atOnce: 64 }, () => ({
        path: '/v1/health',
        isAnonymous: true,
        headers: { connection: 'close' },
      })),
  },
  {
    name: 'the shortest requests, pipelined without end (no key)',
    async run(scene) {
      const many = 'GET /a HTTP/1.1\r\nHost:a\r\n\r\n'.repeat(scaled(scene, 60_000));
      while (!scene.client.signal.aborted) {
        for (let index = 0; index < 40; index++) scene.client.open().write(many);
        await sleep(OPEN_MS);
      }
    },
  },
  {
    name: 'pipelined requests whose answers nobody reads',
    async run({ client, key, scale }) {
      const one = `GET /api/v1/listings?limit=50 HTTP/1.1\r\nHost: attack\r\nAuthorization: Bearer ${key}\r\n\r\n`;
      const each = Math.max(1, Math.round(35 * scale));
      for (let index = 0; index < 16; index++) {
        const socket = client.open();
        socket.pause();
        socket.write(one.repeat(each));
      }
      await client.timeIsUp();
    },
  },
  {
    name: 'uploads that break off',
    async run(scene) {
      const { client, key } = scene;
      const half = Buffer.alloc(BULK_BODY_LIMIT_BYTES / 2, ' ');
      const head =
        `POST /api/v1/customers/bulk HTTP/1.1\r\nHost: attack\r\nAuthorization: Bearer ${key}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${BULK_BODY_LIMIT_BYTES}\r\nIdempotency-Key: `;
      for (let round = 0; round < scaled(scene, 6) && !client.signal.aborted; round++) {
        const sockets = Array.from({ length: 8 }, (_, index) => {
          const socket = client.open();
          socket.write(`${head}broken-${scene.round}-${round}-${index}\r\n\r\n`);
          socket.write(half);
          return socket;
        });
        await sleep(500, undefined, { signal: client.signal }).catch(() => {});
        for (const socket of sockets) socket.destroy();
      }
    },
  },
  {
    name: 'uploads without a key',
    run: (scene) => {
      const body = Buffer.alloc(BULK_BODY_LIMIT_BYTES, '1');
      return scene.client.flood({ count: scaled(scene, 60), atOnce: 8 }, () => ({
        method: 'POST',
        path: '/v1/customers/bulk',
        isAnonymous: true,
        body,
      }));
    },
  },
];
