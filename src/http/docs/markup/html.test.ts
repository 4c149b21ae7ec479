import assert from 'node:assert/strict';
import { test } from 'node:test';
import { html, join } from './html.ts';

test('text is escaped wherever it is put, and markup is kept', () => {
  const hostile = `<script>"'&`;
  assert.equal(
    html`<p title="${hostile}">${hostile}${html`<b>${1}</b>`}</p>`.markup,
    '<p title="&lt;script&gt;&quot;&#39;&amp;">&lt;script&gt;&quot;&#39;&amp;<b>1</b></p>',
  );
});

test('lists are put in part by part, and null and false leave nothing', () => {
  assert.equal(html`${['<', html`<i>`, [null, false, 'x']]}`.markup, '&lt;<i>x');
  assert.equal(join(['a', html`<b>`], ', ').markup, 'a, <b>');
});
