import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Operation } from '../../../contract/operations/operation.ts';
import { OPERATIONS } from '../../../contract/operations.ts';
import { openapiView } from '../openapi-view.ts';
import { siteAt } from '../page.ts';
import { curlOf, operationSection } from './operation-reference.ts';

const PUBLIC_URL = 'https://dealers.test';
const openapi = openapiView(PUBLIC_URL);
const site = siteAt(PUBLIC_URL);
const operations: Operation[] = Object.values(OPERATIONS);

/** The section as a reader sees it. */
function textOf(operation: Operation): string {
  return operationSection(operation, openapi, site)
    .markup.replaceAll(/<[^>]*>/g, '')
    .replaceAll('&quot;', '"')
    .replaceAll(/\s+/g, ' ');
}

describe('the sample of a request', () => {
  it('runs nothing but curl, and has an Idempotency-Key that is no other operation’s', () => {
    const keys = operations.flatMap((operation) => {
      const sample = curlOf(operation, openapi, site);
      assert.doesNotMatch(sample, /\$\(|`/, operation.id);
      const [, key] = /"Idempotency-Key: ([^"]+)"/.exec(sample) ?? [];
      assert.equal(key !== undefined, operation.isIdempotent, operation.id);
      return key ?? [];
    });
    assert.equal(new Set(keys).size, keys.length);
  });
});

describe('the description of an operation', () => {
  it('has the limits of fields that may be null', () => {
    const order = textOf(OPERATIONS.createOrder);
    for (const text of [
      'Shipping. In minor units. From 0 to 1,000,000,000,000.',
      'Units; 1 if it is left out. From 1 to 10,000.',
      'What the customer saw. At most 500 characters.',
      'ISO 4217 code; the integration’s currency if it is left out. Must be an ISO 4217 code of three capital letters, such as USD.',
      'the dealer can match an order without lines by hand. At most 200 items.',
    ]) {
      assert.ok(order.includes(text), text);
    }
    assert.match(textOf(OPERATIONS.createReservation), /900 if it is left out\. From 60 to 3,600\./);
  });

  it('has the rules of the whole body', () => {
    const described = operations.filter(({ body }) => (body as { description?: string } | null)?.description);
    assert.ok(described.length >= 4, `${described.length} bodies are described`);
    for (const operation of described) {
      const { description = '' } = operation.body as { description?: string };
      assert.ok(textOf(operation).includes(description.replaceAll('`', '')), operation.id);
    }
  });

  it('says which characters an Idempotency-Key may have, and how many', () => {
    assert.match(textOf(OPERATIONS.createOrder), /Printable ASCII characters only\..* From 1 to 255 characters\./);
  });
});
