import { STOCK_SORTS } from '../../src/contract/dashboard/stock/stock.ts';
import { itemIdOf } from '../../test/harness/database/many-rows.ts';
import type { Read } from './compare-reads.ts';
import type { BenchDealer } from './dealer.ts';

/** What test/harness/database/many-rows.ts fills: a brand is a quarter of the stock, and what is rare has ten rows at the old end. */
export async function stockReads(dealer: BenchDealer): Promise<Read[]> {
  const list = '/stock?kind=listing';
  const locations = (JSON.parse(await dealer.ask('GET', `/stock/choices?kind=listing`)) as Choices).locations;
  const locationId = (name: string) => locations.find((location) => location.name === name)?.id ?? '';
  return [
    ['first page', list],
    ...STOCK_SORTS.map((sort): Read => [`sort ${sort}`, `${list}&sort=${sort}`]),
    ['last page', `${list}&after=${await cursorOfLastPage(dealer)}`],
    ['search: word of a quarter', `${list}&q=rolex`],
    ['search: word of a quarter, by price', `${list}&q=rolex&sort=-price`],
    ['search: word of a twelfth', `${list}&q=submariner`],
    ['search: prefix of two words', `${list}&q=se`],
    ['search: prefix of every stock number', `${list}&q=s00`],
    ['search: prefix of a tenth', `${list}&q=r10`],
    ['search: rare word', `${list}&q=tropical`],
    ['search: two words', `${list}&q=rolex+daytona`],
    ['search: one stock number', `${list}&q=S-0000042`],
    ['search: no hit', `${list}&q=zzzz`],
    ['search: word of a quarter, in stock', `${list}&q=rolex&status=in_stock`],
    ['search: word of a quarter, reserved', `${list}&q=rolex&status=reserved`],
    ['status: in stock', `${list}&status=in_stock`],
    ['status: reserved (rare)', `${list}&status=reserved`],
    ['status: in stock, by price', `${list}&status=in_stock&sort=price`],
    ['hidden', `${list}&hidden=yes`],
    ['on a channel', `${list}&integration_id=${dealer.integrationId}`],
    ['on no channel', `${list}&integration_id=none`],
    ['needs work', `${list}&needs_work=yes`],
    ['brand', `${list}&brand=Rolex`],
    ['location', `${list}&location_id=${locationId('Safe')}`],
    ['location (rare)', `${list}&location_id=${locationId('Vault')}`],
    ['price band of 2 %', `${list}&price_from=500000&price_to=700000`],
    ['price band of 0.2 %', `${list}&price_from=500000&price_to=520000`],
    ['price band of 30 %', `${list}&price_from=500000&price_to=3500000`],
    ['price band of 2 %, by price', `${list}&price_from=500000&price_to=700000&sort=price`],
    ['price band of 2 %, by title', `${list}&price_from=500000&price_to=700000&sort=title`],
    ['brand and price, by price', `${list}&brand=Rolex&price_from=500000&sort=price`],
    ['brand, status and price', `${list}&brand=Rolex&status=in_stock&price_from=500000&price_to=700000`],
    ['filters and tabs', '/stock/choices?kind=listing'],
    ['palette', '/search?q=rolex'],
    ['item page, one request', `/items/${itemIdOf(dealer, 500)}`],
  ];
}

type Choices = { locations: { id: string; name: string }[] };

/** A cursor of the list oldest first, where it has shown a page, says where the last page of the list newest first begins. */
async function cursorOfLastPage(dealer: BenchDealer): Promise<string> {
  const oldest = JSON.parse(await dealer.ask('GET', '/stock?kind=listing&sort=created')) as { next_cursor: string };
  const [, value, id] = JSON.parse(Buffer.from(oldest.next_cursor, 'base64url').toString('utf8')) as string[];
  return Buffer.from(JSON.stringify(['-created', value, id])).toString('base64url');
}

export async function orderReads(dealer: BenchDealer): Promise<Read[]> {
  const list = '/orders?tab=all';
  return [
    ['queue', '/orders?tab=queue'],
    ['all', list],
    ['all, oldest first', `${list}&sort=created`],
    ['fulfilled', '/orders?tab=fulfilled'],
    ['cancelled (rare)', '/orders?tab=cancelled'],
    ['test orders', `${list}&test=only`],
    ['of a channel', `${list}&integration_id=${dealer.integrationId}`],
    ['last day', `${list}&period=day`],
    ['in conflict (rare)', `${list}&conflict=yes`],
    ['search: number', `${list}&q=SO-42`],
    ['search: name of a quarter', `${list}&q=ada`],
    ['search: name of a quarter, cancelled', '/orders?tab=cancelled&q=ada'],
    ['search: prefix of all', `${list}&q=buyer`],
    ['search: rare name', `${list}&q=quixote`],
    ['search: no hit', `${list}&q=zzzz`],
    ['filters and tabs', '/orders/choices'],
  ];
}

export async function deliveryReads(dealer: BenchDealer): Promise<Read[]> {
  const list = '/deliveries?';
  return [
    ['first page', list],
    ['delivered', `${list}status=succeeded`],
    ['dead letters', `${list}status=dead_letter`],
    ['retrying', `${list}status=failed`],
    ['held (rare)', `${list}status=held`],
    ['on its way (rare)', `${list}status=pending`],
    ['event type', `${list}type=listing.sold`],
    ['event type (rare)', `${list}type=part.updated`],
    ['dead letters of a type', `${list}status=dead_letter&type=listing.sold`],
    ['of one item', `${list}object_id=${itemIdOf(dealer, 501)}`],
    ['answered 4xx', `${list}code=4xx`],
    ['answered 5xx', `${list}code=5xx`],
    ['of a channel', `${list}integration_id=${dealer.integrationId}`],
    ['last day', `${list}period=day`],
    ['search: one stock number', `${list}q=S-0000501`],
    ['filters and tabs', '/deliveries/choices'],
  ];
}

export async function eventReads(dealer: BenchDealer): Promise<Read[]> {
  const list = '/events?';
  return [
    ['first page', list],
    ['event type', `${list}type=listing.sold`],
    ['event type (rare)', `${list}type=part.updated`],
    ['sent', `${list}outcome=sent`],
    ['suppressed', `${list}outcome=echo`],
    ['no webhook URL (rare)', `${list}outcome=no_url`],
    ['of one item', `${list}object_id=${itemIdOf(dealer, 501)}`],
    ['of a channel', `${list}integration_id=${dealer.integrationId}`],
  ];
}

export async function requestReads(dealer: BenchDealer): Promise<Read[]> {
  const list = '/requests?';
  return [
    ['first page', list],
    ['2xx', `${list}status=2xx`],
    ['3xx (rare)', `${list}status=3xx`],
    ['4xx', `${list}status=4xx`],
    ['5xx (rare)', `${list}status=5xx`],
    ['POST', `${list}method=POST`],
    ['HEAD (rare)', `${list}method=HEAD`],
    ['route', `${list}route=/v1/orders`],
    ['route (rare)', `${list}route=/v1/me`],
    ['route with 4xx', `${list}route=/v1/orders&status=4xx`],
    ['of a channel', `${list}integration_id=${dealer.integrationId}`],
    ['search: idempotency key', `${list}q=key-20`],
    ['filters', '/requests/choices'],
  ];
}
