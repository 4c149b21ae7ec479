import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mailtoOf } from '../../dashboard/src/mailto.ts';

describe('the link that opens a mail', () => {
  it('is addressed to the email alone, whatever characters it has', () => {
    for (const [email, link] of [
      ['ana@example.ch', 'mailto:ana@example.ch'],
      ['ana+watch@example.ch', 'mailto:ana%2Bwatch@example.ch'],
      ['jane%40real.example?bcc=spy@evil.example', 'mailto:jane%2540real.example%3Fbcc%3Dspy@evil.example'],
      ['jane@real.example?bcc=spy@evil.example', 'mailto:jane%40real.example%3Fbcc%3Dspy@evil.example'],
      ['a,b;c&d@evil.example', 'mailto:a%2Cb%3Bc%26d@evil.example'],
      ['ana@example.ch?cc=x', 'mailto:ana@example.ch%3Fcc%3Dx'],
      ['ana', 'mailto:ana'],
    ] as const) {
      assert.equal(mailtoOf(email), link);
      const url = new URL(link);
      assert.deepEqual([url.search, decodeURIComponent(url.pathname)], ['', email]);
    }
  });
});
