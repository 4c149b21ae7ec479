import assert from 'node:assert/strict';
import { it } from 'node:test';
import { routeNotFound } from './route-not-found.ts';

const messageOf = (method: string, url: string) => routeNotFound({ method, url }).message;

it('route_not_found names the method and the path, without the query', () => {
  assert.equal(messageOf('GET', '/api/v1/me/?limit=1'), 'There is no endpoint GET /api/v1/me/.');
});

it('route_not_found cuts a long path, and leaves control characters out', () => {
  const message = messageOf('POST', `/api/\u0085\u001b[31m${'x'.repeat(10_000)}`);
  assert.match(message, /^There is no endpoint POST \/api\/\[31mx{180,200}…\.$/);
});
