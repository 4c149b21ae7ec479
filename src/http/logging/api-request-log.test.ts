import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { it } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { cloneDatabase } from '../../../test/harness/database/database.ts';
import { HEADERS_LIMIT_BYTES } from '../../contract/limits.ts';
import { OPERATIONS } from '../../contract/operations.ts';
import { threadMs } from '../../webhooks/sending/thread-time.ts';
import { createApiRequestLog } from './api-request-log.ts';

const REQUESTS = 500;
const ROUND_SHARE = 0.2;

it('the log of requests formats a batch in slices: long queries of one client keep nobody else waiting', async (t) => {
  const database = await cloneDatabase();
  t.after(() => database.drop());
  const log = createApiRequestLog(database.db, {
    senders: { of: () => ({ group: 'org_1', key: 'int_1' }), note: () => {} },
    readsPerMinute: REQUESTS,
    onFault: (error) => assert.fail(String(error)),
  });
  const names = Array.from({ length: HEADERS_LIMIT_BYTES / 5 }, (_, index) => `n${index}`);
  const request = { method: 'GET', url: `/api/v1/listings?${names.join('&')}`, headers: {} } as IncomingMessage;
  const response = { headersSent: true, statusCode: 200 } as ServerResponse;
  const operation = OPERATIONS.listListings;
  const startedMs = threadMs();
  let beganMs = startedMs;
  for (let index = 0; index < REQUESTS; index++) {
    const record = { requestId: `req_${index}`, integrationId: 'int_1', route: '', operation, startedAtMs: 0 };
    log.note('int_1', request, response, record);
  }
  let isWritten = false;
  const written = log.stop().then(() => {
    isWritten = true;
  });
  let longestMs = 0;
  while (!isWritten) {
    await nextRound();
    longestMs = Math.max(longestMs, threadMs() - beganMs);
    beganMs = threadMs();
  }
  await written;
  const totalMs = threadMs() - startedMs;
  assert.ok(longestMs <= totalMs * ROUND_SHARE, `${longestMs.toFixed(0)} of ${totalMs.toFixed(0)} ms in one go`);
});
