import assert from 'node:assert/strict';
import { it } from 'node:test';
import { RETRY_AFTER_CODES } from '../../../contract/openapi/openapi.ts';
import { openapiView } from '../openapi-view.ts';
import { siteAt } from '../page.ts';
import { errorCataloguePage } from './error-catalogue.ts';

const PUBLIC_URL = 'https://dealers.test';

it('the page on errors names every error that can be retried as it is', () => {
  const page = errorCataloguePage(() => openapiView(PUBLIC_URL), siteAt(PUBLIC_URL));
  const [, advice = ''] = /Retry what can pass\.(.*?)<\/li>/s.exec(page.content().body.markup) ?? [];
  for (const code of [...RETRY_AFTER_CODES, 'auth_lookup_failed', 'request_timeout']) {
    assert.ok(advice.includes(`#${code}"`), code);
  }
});
