import type { Operation } from '../../../contract/operations/operation.ts';
import { OPERATIONS } from '../../../contract/operations.ts';
import { ORDER_TRANSITIONS, type OrderOperation, type OrderTransition } from '../../../contract/states/order-states.ts';
import { type Chapter, endpointLink } from '../chapter.ts';
import { type Html, html } from '../markup/html.ts';
import { errorLink } from '../markup/text.ts';
import type { Site } from '../page.ts';

/** The endpoints by which a client changes an order; what the dealer does has none. */
const ENDPOINTS: Partial<Record<OrderOperation, Operation>> = {
  report: OPERATIONS.createOrder,
  cancel: OPERATIONS.cancelOrder,
};

/** The table of contract/states/order-states.ts, as the client sees it: what leaves the status alone is left out. */
export function orderStates(site: Site): Chapter {
  const rows = Object.entries(ORDER_TRANSITIONS) as [OrderOperation, OrderTransition][];
  return {
    id: 'order-states',
    title: 'States of an order',
    body: html`<p>You report an order and can cancel it while it waits. The dealer does everything else. You get an event when the dealer
fulfils or dismisses an order, but none when it becomes <code>matched</code> or goes back to <code>received</code>. To follow
every change, list your orders with <code>updated_after</code> (see <a href="#sync">Staying in sync</a>) and read <code>status</code>.</p>
<table class="event-types">
<thead><tr><th scope="col">Status</th><th scope="col">Who</th><th scope="col">What happens</th></tr></thead>
<tbody>${rows.filter(([, { to }]) => to !== null).map(([name, transition]) => stateRow(name, transition, site))}</tbody>
</table>
<p>You can cancel only a <code>received</code> order: once it is matched to a sale, you get ${errorLink('order_matched', site)}. To cancel an order again changes nothing and is no error.</p>
<p>A dealer can erase a person. Then <code>customer</code>, <code>customer_id</code>, both addresses, <code>metadata</code> and the reason of a cancellation of that person’s orders read <code>null</code>. There is no event; the orders have a new <code>updated_at</code>, so <code>updated_after</code> finds them. Forget the person, too.</p>`,
  };
}

function stateRow(name: OrderOperation, { by, label, from, to, effect, event }: OrderTransition, site: Site): Html {
  const endpoint = ENDPOINTS[name];
  const what = endpoint === undefined ? html`${label}.` : endpointLink(endpoint, site);
  const eventNote = event === null ? html`` : html` You get <code>${event}</code>.`;
  return html`<tr><th scope="row">${from.length === 0 ? null : html`${listOf(from)} → `}<code>${to ?? ''}</code></th><td>${by === 'client' ? 'You' : 'The dealer'}</td>
<td>${what} ${effect}${eventNote}</td></tr>`;
}

function listOf(statuses: readonly string[]): Html {
  return html`${statuses.map((status, index) => html`${index > 0 ? ', ' : ''}<code>${status}</code>`)}`;
}
