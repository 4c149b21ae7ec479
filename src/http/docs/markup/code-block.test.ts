import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scriptBlock } from './code-block.ts';

test('a script highlights comments, keywords, strings and numbers', () => {
  const script = ['/** Says `why`. */', 'let limit = 5_000; // bytes', "throw new Error('too long');"].join('\n');
  const { markup } = scriptBlock('sample.mjs', script);
  const tokens = [...markup.matchAll(/<span class="(remark|key|text|value)">(.*?)<\/span>/g)];
  assert.deepEqual(
    tokens.map(([, kind, text]) => `${kind} ${text}`),
    [
      'remark /** Says `why`. */',
      'key let',
      'value 5_000',
      'remark // bytes',
      'key throw',
      'key new',
      'text &#39;too long&#39;',
    ],
  );
});
