import { eventExample, eventExampleOf } from '../../src/contract/resources/event.ts';
import { listingExample } from '../../src/contract/resources/listing.ts';

/** What integrators do with generated clients; written to files beside the generated code. */

const UNSEEN_EVENT = {
  ...eventExample,
  type: 'listing.exhibited',
  data: { object: { id: 'x', object: 'exhibition' } },
};
const UNSEEN_LISTING = {
  ...listingExample,
  status: 'on_loan',
  watch: { ...listingExample.watch, movement: 'hydraulic' },
};
const EVENTS = {
  object: 'list',
  data: [UNSEEN_EVENT, eventExampleOf('order.fulfilled'), eventExampleOf('part.updated')],
  has_more: false,
  next_cursor: null,
};

export const OPENAPI_TYPESCRIPT_USAGE = `
import type { components, paths } from './schema';
type Schemas = components['schemas'];

export const tellAny = (event: Schemas['Event']): string => tell(event as Schemas['KnownEvent']);

export function tell(event: Schemas['KnownEvent']): string {
  switch (event.type) {
    case 'order.fulfilled':
      return event.data.object.channel_order_id + event.data.previous_attributes.status;
    case 'part.in_stock':
      return String(event.data.object.quantity - event.data.previous_attributes.quantity);
    case 'part.updated':
      return String(event.data.previous_attributes.price?.amount);
    case 'listing.unpublished':
      return event.data.object.deleted === true ? 'gone' : 'hidden';
    default:
      return (event as Schemas['OtherEvent']).type;
  }
}
export const status: Schemas['Listing']['status'] = 'a status of tomorrow';
export const code: Schemas['Error']['error']['code'] = 'a_code_of_tomorrow';
export const label = (listing: Schemas['Listing']): string | string[] | null | undefined => listing.labels.movement;
export const value = (order: Schemas['Order']): unknown => order.metadata?.cart;
export const query: paths['/v1/listings']['get']['parameters']['query'] = { ids: 'lst_1,lst_2' };
`;

export const HEY_API_USAGE = `
import { createServer } from 'node:http';
import { client } from './client/client.gen';
import { getListing, listEvents } from './client/sdk.gen';
import type { Event, KnownEvent } from './client/types.gen';

declare const process: { exit(code: number): never };

function tell(some: Event): string {
  const event = some as KnownEvent;
  switch (event.type) {
    case 'order.fulfilled':
      return event.data.object.channel_order_id;
    case 'part.updated':
      return String(event.data.previous_attributes.price?.amount);
    default:
      return event.type;
  }
}

const answers: Record<string, string> = {
  '/v1/events': ${JSON.stringify(JSON.stringify(EVENTS))},
  '/v1/listings/x': ${JSON.stringify(JSON.stringify(UNSEEN_LISTING))},
};
const server = createServer((request: { url: string }, response: any) => {
  response.setHeader('content-type', 'application/json');
  response.end(answers[request.url]);
});
server.listen(0, '127.0.0.1', async () => {
  client.setConfig({ baseUrl: 'http://127.0.0.1:' + server.address().port, auth: 'svc_x' });
  const events = await listEvents({ throwOnError: true });
  const told = events.data.data.map(tell).join();
  const listing = await getListing({ path: { id: 'x' }, throwOnError: true });
  const isRight = told === 'listing.exhibited,SO-1001,19500' && listing.data.status === 'on_loan';
  process.exit(isRight ? 0 : 1);
});
`.replace(
  "import { createServer } from 'node:http';",
  "const { createServer } = require('node:http');\ndeclare function require(name: string): any;",
);

export const PYTHON_USAGE = `
import json
from client.models import EventList, Listing, OrderFulfilledEvent, OtherEvent, PartUpdatedEvent

events = EventList.from_dict(json.loads(${JSON.stringify(JSON.stringify(EVENTS))})).data
assert [type(event) for event in events] == [OtherEvent, OrderFulfilledEvent, PartUpdatedEvent], events
assert events[0].type_ == "listing.exhibited"
assert events[1].data.object_.channel_order_id == "SO-1001"
listing = Listing.from_dict(json.loads(${JSON.stringify(JSON.stringify(UNSEEN_LISTING))}))
assert listing.status == "on_loan" and listing.watch.movement == "hydraulic"
assert listing.labels.additional_properties["movement"] == "Automatic"
`;
