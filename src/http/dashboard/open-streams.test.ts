import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SignedIn } from './call.ts';
import { createOpenStreams } from './open-streams.ts';

const USER: SignedIn = {
  userId: 'usr_1',
  organizationId: 'org_1',
  sessionId: 'ses_1',
  role: 'owner',
  name: 'Ana',
  email: 'ana@dealer.example',
  showsTestData: false,
  currency: 'USD',
  seesCost: true,
  storage: { bytes: 0, quotaBytes: 1, now: new Date(0) },
};

describe('the live streams of a process that stops', () => {
  it('end, also one whose request was under way', async () => {
    const streams = createOpenStreams(async () => []);
    const ended: string[] = [];
    streams.add(USER, () => ended.push('open'));
    streams.endAll();
    assert.deepEqual(ended, ['open']);
    await new Promise<void>((resolve) => streams.add(USER, resolve));
  });
});
