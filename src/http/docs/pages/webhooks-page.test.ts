import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { openBrowser } from '../../../../test/harness/browser/browser.ts';
import { exchange } from '../../../../test/harness/http/api-client.ts';
import { startWorld, type World } from '../../../../test/harness/world.ts';
import { EVENT_TYPES } from '../../../contract/event-types.ts';
import { SIGNATURE_TOLERANCE_SECONDS, WEBHOOK_HEADERS } from '../../../contract/webhooks.ts';
import { ATTEMPT_LIMIT, waitMsAfter } from '../../../webhooks/delivery-queue/retries/retry-schedule.ts';
import { signature } from '../../../webhooks/sending/signature.ts';

describe('the page on webhooks', () => {
  let world: World;
  let browser: Browser;
  let page: Page;
  before(async () => {
    // One after the other: a browser that nobody holds because the other failed would keep the test run from ending.
    world = await startWorld();
    browser = await openBrowser();
    page = await browser.newPage();
    await page.goto(`${world.origin}/docs/api/webhooks`);
  });
  after(async () => {
    await browser?.close();
    await world?.stop();
  });

  const plain = (text: string) => text.replaceAll('`', '');
  const rowsOf = async (table: string): Promise<string[][]> =>
    await page.evaluate(`[...document.querySelectorAll('${table} tbody tr')].map((row) =>
      [...row.cells].map((cell) => cell.innerText.replaceAll(/\\s+/g, ' ').trim()))`);

  it('lists every event of the catalogue, and no other: when it comes and what it holds', async () => {
    const expected = Object.entries(EVENT_TYPES).map(([type, { when, object, previous }]) => [
      type,
      plain(when),
      [plain(object), ...(previous === null ? [] : [`previous_attributes ${plain(previous)}`])].join(' '),
    ]);
    assert.deepEqual(await rowsOf('.event-types'), expected);
    for (const type of Object.keys(EVENT_TYPES)) {
      assert.equal(await page.locator(`[id="${type}"]`).count(), 1, type);
    }
  });

  it('lists every header that a webhook carries', async () => {
    const names = await page.evaluate(
      '[...document.querySelectorAll("#headers dt code")].map((name) => name.innerText)',
    );
    assert.deepEqual(names, Object.keys(WEBHOOK_HEADERS));
  });

  it('gives the waits that are really kept', async () => {
    const rows = await rowsOf('.attempts');
    assert.equal(rows.length, ATTEMPT_LIMIT);
    const units: Record<string, number> = { second: 1_000, minute: 60_000, hour: 3_600_000 };
    for (const [index, [attempt, wait = '']] of rows.entries()) {
      assert.equal(attempt, String(index + 1));
      const [, count, unit = ''] = /^(\d+) (second|minute|hour)s?$/.exec(wait) ?? [];
      assert.equal(count === undefined ? wait : Number(count) * (units[unit] ?? 0), waitMsAfter(index) || 'at once');
    }
    assert.deepEqual(rows.map((row) => row[2]).slice(-3), ['7 h 35 min', '17 h 35 min', '27 h 35 min']);
  });

  describe('shows a receiver that', () => {
    const SECRETS = ['whsec_0123456789abcdefghijABCDEFGHIJ01', 'whsec_1123456789abcdefghijABCDEFGHIJ01'];
    const [secret = '', other = ''] = SECRETS;
    let folder: string;
    let receiver: ChildProcess;
    let url: string;
    let printed = '';
    before(async () => {
      const code = (await page.locator('#signatures .script pre').textContent()) ?? '';
      folder = await mkdtemp(join(tmpdir(), 'crownwheel-sample-'));
      await writeFile(join(folder, 'receiver.mjs'), code);
      receiver = spawn(process.execPath, ['receiver.mjs'], {
        cwd: folder,
        env: { SIGNING_SECRET: secret, RECEIVER_PORT: '0' },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      receiver.stdout?.on('data', (chunk) => {
        printed += chunk;
      });
      while (!printed.includes('\n')) await once(receiver.stdout ?? receiver, 'data');
      url = `http://127.0.0.1:${/:(\d+)/.exec(printed)?.[1]}/webhooks`;
    });
    after(async () => {
      receiver.kill();
      await rm(folder, { recursive: true, force: true });
    });

    const now = () => Math.floor(Date.now() / 1000);
    const body = JSON.stringify({
      id: 'evt_1',
      object: 'event',
      type: 'listing.sold',
      data: { object: { title: 'é' } },
    });
    const post = async (header: string | null, sent = body) => {
      const headers = { 'content-type': 'application/json', ...(header === null ? {} : { 'x-svc-signature': header }) };
      return (await exchange(url, { method: 'POST', body: sent, headers })).status;
    };

    it('takes what was signed with its secret, also while another signs along', async () => {
      assert.equal(await post(signature([secret], now(), body)), 204);
      assert.equal(await post(signature([other, secret], now(), body)), 204);
      assert.match(printed, /listing\.sold/);
    });

    it('refuses what was not, what was altered, and what is not a signature', async () => {
      const t = now();
      const good = signature([secret], t, body);
      assert.equal(await post(signature([other], t, body)), 400);
      assert.equal(await post(good, body.replace('sold', 'gone')), 400);
      assert.equal(await post(good.replace(/^t=\d+/, `t=${t - 1}`)), 400);
      for (const header of [null, '', 'x', 't=', 'v1=', `t=${now()}`, `t=${now()},v1=`, `t=${now()},v1=00`]) {
        assert.equal(await post(header), 400, String(header));
      }
    });

    it('refuses what is older or younger than the tolerance', async () => {
      const MARGIN_SECONDS = 30;
      for (const sign of [1, -1]) {
        const near = now() + sign * (SIGNATURE_TOLERANCE_SECONDS - MARGIN_SECONDS);
        const far = now() + sign * (SIGNATURE_TOLERANCE_SECONDS + MARGIN_SECONDS);
        assert.equal(await post(signature([secret], near, body)), 204);
        assert.equal(await post(signature([secret], far, body)), 400);
      }
    });
  });
});
