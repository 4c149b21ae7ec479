import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { IMPORT_FILE_LIMIT_MB, IMPORT_LINES_LIMIT } from '../../src/contract/dashboard/limits.ts';
import { BODY_LIMIT_BYTES, BYTES_PER_MB, DESCRIPTION_LENGTH_LIMIT } from '../../src/contract/limits.ts';
import { makeZip } from '../../test/harness/jobs/zip.ts';
import type { AttackRequest } from '../client.ts';
import { type Attack, madeOnce, type Scene, type Staff, scaled } from './attack.ts';

const ZIP_BYTES = 20 * BYTES_PER_MB;
const STREAMS = 60;
const EDIT_EVERY_MS = 25;
/** As many as one connection may leave unanswered. */
const UNREAD_ANSWERS = 16;

/** Words of the filled stock and orders: of a quarter of the rows, of all, of few, and of none. */
const WORDS = ['rolex', 's00', 'se', 'rolex+daytona', 'ada', 'buyer', 'tropical', 'zzzz'];
const LISTS = [
  '/stock?kind=listing',
  '/stock?kind=listing&sort=-price',
  '/stock?kind=listing&sort=title',
  '/orders?tab=all',
  '/orders?tab=all&sort=created',
  '/customers?',
  '/sales?',
  '/deliveries?',
  '/events?',
  '/requests?',
  '/jobs?',
  '/audit?',
  '/search?',
];
const FILES = [
  '/stock/export.csv?kind=listing',
  '/orders/export.csv?tab=all',
  '/customers/export.csv',
  '/sales/export.csv',
  '/deliveries/export.csv',
  '/events/export.csv',
  '/requests/export.csv',
];
const PAGES = [
  '/session',
  '/badges',
  '/activity',
  '/stock-value',
  '/stock/choices?kind=listing',
  '/orders/choices',
  '/deliveries/choices',
  '/requests/choices',
  '/integrations',
  '/team',
  '/locations',
];

/** The attacker is a person of the attacker's own team, without any right of an owner. */
function staffOf({ staff }: Scene): Staff {
  if (staff === null) throw new Error('this attack needs somebody who is signed in');
  return staff;
}

function asked(scene: Scene, method: string, path: string, body?: AttackRequest['body'], type = 'application/json') {
  const { cookie, origin } = staffOf(scene);
  return {
    method,
    path: `/api/dashboard${path}`,
    isAnonymous: true,
    headers: { cookie, origin, ...(body === undefined ? {} : { 'content-type': type }) },
    ...(body === undefined ? {} : { body }),
  };
}

const largeTable = madeOnce(() => {
  // As many cells as a file can have, and then as many bytes.
  const cells = Array.from({ length: 200 }, () => 'x'.repeat(4)).join(',');
  const line = `${cells.slice(0, Math.floor((IMPORT_FILE_LIMIT_MB * BYTES_PER_MB) / IMPORT_LINES_LIMIT) - 8)}\n`;
  const header = `${Array.from({ length: 200 }, (_, index) => `h${index}`).join(',')}\n`;
  return Buffer.from(header + line.repeat(IMPORT_LINES_LIMIT));
});
const largeZip = madeOnce(() => makeZip([{ name: 'W-1.jpg', bytes: randomBytes(ZIP_BYTES) }]));
const largeView = madeOnce(() =>
  JSON.stringify({ list: 'jobs', name: 'x', query: '', is_shared: false, more: 'x'.repeat(BODY_LIMIT_BYTES - 1_000) }),
);
const manyIds = madeOnce(() =>
  JSON.stringify({ item_ids: Array.from({ length: 1_000 }, (_, index) => `lst_${String(index).padStart(26, '0')}`) }),
);

/** What each item's next save is based on. */
const revisions = new Map<string, number>();

/** A save of as much text as an item can have. */
function longEdit(scene: Scene, itemId: string, letter: string): AttackRequest {
  const text = `${scene.round}${letter.repeat(DESCRIPTION_LENGTH_LIMIT - 10)}`;
  const revision = (revisions.get(itemId) ?? 0) + 1;
  revisions.set(itemId, revision);
  const edit = JSON.stringify({ revision, description: text, private_notes: text });
  return asked(scene, 'PATCH', `/items/${itemId}`, edit);
}

/** What one person of a dealer's team can do to other dealers from a browser. */
export const DASHBOARD_ATTACKS: Attack[] = [
  {
    name: 'dashboard: every list with every search',
    needs: 'large stock',
    run: (scene) =>
      scene.client.flood({ count: scaled(scene, 600), atOnce: 60 }, (index) => {
        const list = LISTS[index % LISTS.length] as string;
        return asked(scene, 'GET', `${list}&q=${WORDS[Math.floor(index / LISTS.length) % WORDS.length]}`);
      }),
  },
  {
    name: 'dashboard: every page at once',
    needs: 'large stock',
    run: (scene) =>
      scene.client.flood({ count: scaled(scene, 1_500), atOnce: 100 }, (index) =>
        asked(scene, 'GET', PAGES[index % PAGES.length] as string),
      ),
  },
  {
    name: 'dashboard: CSV files that nobody reads',
    needs: 'large stock',
    async run(scene) {
      const { cookie } = staffOf(scene);
      for (let index = 0; index < 4 * FILES.length; index++) {
        const socket = scene.client.open();
        socket.pause();
        const path = `/api/dashboard${FILES[index % FILES.length]}`;
        socket.write(`GET ${path} HTTP/1.1\r\nHost: attack\r\nCookie: ${cookie}\r\n\r\n`);
      }
      await scene.client.timeIsUp();
    },
  },
  {
    name: 'dashboard: CSV files, read at once',
    needs: 'large stock',
    run: (scene) =>
      scene.client.flood({ count: scaled(scene, 42), atOnce: 12 }, (index) =>
        asked(scene, 'GET', FILES[index % FILES.length] as string),
      ),
  },
  {
    name: 'dashboard: CSV uploads of 20 MB',
    needs: 'staff',
    prepare: () => void largeTable(),
    run: (scene) => {
      const file = largeTable();
      return scene.client.flood({ count: scaled(scene, 16), atOnce: 8 }, () =>
        asked(scene, 'POST', '/imports?kind=listing&name=x.csv', file, 'text/csv'),
      );
    },
  },
  {
    name: 'dashboard: checks of files that are made to take long',
    needs: 'staff with many locations',
    run: (scene) => {
      const { fileIds } = staffOf(scene);
      const mapping = JSON.stringify({ mapping: ['stock_number', 'location', 'complications'] });
      return scene.client.flood({ count: scaled(scene, 12), atOnce: 3 }, (index) =>
        asked(scene, 'POST', `/imports/${fileIds[index % fileIds.length]}/check`, mapping),
      );
    },
  },
  {
    name: 'dashboard: zips of photos',
    needs: 'staff',
    prepare: () => void largeZip(),
    run: (scene) => {
      const { fileIds } = staffOf(scene);
      return scene.client.flood({ count: scaled(scene, 12), atOnce: 6 }, (index) =>
        asked(scene, 'POST', `/imports/${fileIds[index % fileIds.length]}/photos`, largeZip(), 'application/zip'),
      );
    },
  },
  {
    name: 'dashboard: photos of 12 megapixels',
    needs: 'staff photos',
    run: (scene) => {
      const { itemIds, photo } = staffOf(scene);
      const bytes = Buffer.from(photo, 'base64');
      return scene.client.flood({ count: scaled(scene, 40), atOnce: 10 }, (index) =>
        asked(scene, 'POST', `/items/${itemIds[index % itemIds.length]}/photos`, bytes, 'image/jpeg'),
      );
    },
  },
  {
    name: 'dashboard: live streams and edits',
    needs: 'staff',
    async run(scene) {
      const { client } = scene;
      const { cookie, itemIds } = staffOf(scene);
      for (let index = 0; index < scaled(scene, STREAMS); index++) {
        client.open().write(`GET /api/dashboard/stream HTTP/1.1\r\nHost: attack\r\nCookie: ${cookie}\r\n\r\n`);
      }
      for (let index = 0; !client.signal.aborted && index < scaled(scene, 600); index++) {
        const isHidden = Math.floor(index / itemIds.length) % 2 === scene.round % 2;
        const path = `/items/${itemIds[index % itemIds.length]}/hidden`;
        void client.send(asked(scene, 'PUT', path, JSON.stringify({ is_hidden: isHidden })));
        await sleep(EDIT_EVERY_MS, undefined, { signal: client.signal }).catch(() => {});
      }
    },
  },
  {
    name: 'dashboard: edits of long texts',
    needs: 'staff',
    run: (scene) => {
      const { itemIds } = staffOf(scene);
      return scene.client.flood({ count: scaled(scene, 600), atOnce: 20 }, (index) =>
        longEdit(scene, itemIds[index % itemIds.length] as string, String.fromCharCode(97 + (index % 26))),
      );
    },
  },
  {
    name: 'dashboard: answers of long texts that nobody reads',
    needs: 'staff',
    async run(scene) {
      const { cookie, itemIds } = staffOf(scene);
      for (let index = 0; index < 4; index++) {
        await scene.client.send(longEdit(scene, itemIds[0] as string, index % 2 === 0 ? '€' : '£'));
      }
      const one = `GET /api/dashboard/audit?limit=3 HTTP/1.1\r\nHost: attack\r\nCookie: ${cookie}\r\n\r\n`;
      for (let index = 0; index < scaled(scene, 100) && !scene.client.signal.aborted; index++) {
        const socket = scene.client.open();
        socket.pause();
        socket.write(one.repeat(UNREAD_ANSWERS));
        await sleep(EDIT_EVERY_MS);
      }
      await scene.client.timeIsUp();
    },
  },
  {
    name: 'dashboard: bodies of 1 MB and a thousand ids',
    needs: 'staff',
    prepare: () => void largeView(),
    run: (scene) =>
      scene.client.flood({ count: scaled(scene, 200), atOnce: 20 }, (index) =>
        index % 2 === 0
          ? asked(scene, 'POST', '/views', largeView())
          : asked(scene, 'POST', '/stock/bulk/count', manyIds()),
      ),
  },
  {
    name: 'dashboard: passwords that are hashed',
    needs: 'staff',
    run: (scene) =>
      scene.client.flood({ count: scaled(scene, 100), atOnce: 20 }, (index) =>
        index % 2 === 0
          ? asked(
              scene,
              'POST',
              '/account/password',
              JSON.stringify({ current_password: 'x', new_password: 'a password that is long' }),
            )
          : asked(
              scene,
              'POST',
              '/session',
              JSON.stringify({ email: 'nobody@dealer.example', password: 'x'.repeat(100) }),
            ),
      ),
  },
  {
    name: 'dashboard: many sessions of one person',
    needs: 'staff with many sessions',
    run: (scene) =>
      scene.client.flood({ count: scaled(scene, 2_000), atOnce: 90 }, (index) => {
        const { cookies } = staffOf(scene);
        const request = asked(scene, 'GET', '/session');
        return { ...request, headers: { ...request.headers, cookie: cookies[index % cookies.length] ?? '' } };
      }),
  },
  {
    name: 'dashboard: checks of an endpoint that never answers',
    needs: 'staff with a hanging receiver',
    run: (scene) =>
      scene.client.flood({ count: scaled(scene, 40), atOnce: 20 }, () =>
        asked(scene, 'POST', `/integrations/${staffOf(scene).integrationId}/webhook/check`, '{}'),
      ),
  },
];
