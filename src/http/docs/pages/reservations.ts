import {
  ACTIVE_RESERVATIONS_LIMIT,
  RESERVATION_LIFETIME_LIMIT_SECONDS,
  RESERVATION_RETENTION_DAYS,
  RESERVATION_TTL_DEFAULT_SECONDS,
  RESERVATION_TTL_MAX_SECONDS,
  RESERVATION_TTL_MIN_SECONDS,
} from '../../../contract/limits.ts';
import type { Operation } from '../../../contract/operations/operation.ts';
import { OPERATIONS } from '../../../contract/operations.ts';
import {
  RESERVATION_TRANSITIONS,
  type ReservationOperation,
  type ReservationTransition,
} from '../../../contract/states/reservation-states.ts';
import { type Chapter, endpointLink } from '../chapter.ts';
import { type Html, html } from '../markup/html.ts';
import { errorLink } from '../markup/text.ts';
import type { Site } from '../page.ts';

/** The endpoints by which a client changes a reservation. */
const ENDPOINTS: Partial<Record<ReservationOperation, Operation>> = {
  create: OPERATIONS.createReservation,
  extend: OPERATIONS.extendReservation,
  release: OPERATIONS.releaseReservation,
  use: OPERATIONS.createOrder,
};

const WHO = { client: 'You', dealer: 'The dealer', service: 'The service' } as const;

/** How to sell a watch once, and the table of contract/states/reservation-states.ts. */
export function reservations(site: Site): Chapter {
  const { createReservation, createOrder, extendReservation, releaseReservation } = OPERATIONS;
  const rows = Object.entries(RESERVATION_TRANSITIONS) as [ReservationOperation, ReservationTransition][];
  return {
    id: 'reservations',
    title: 'Sell a watch once',
    body: html`<p>Between the cart and the payment somebody else may buy the same watch. A reservation holds its units while your buyer
checks out: nobody else can buy them, on your site or any other channel of the dealer.</p>
<ol class="checks">
<li><p><strong>Reserve when the checkout begins.</strong> ${endpointLink(createReservation, site)} holds the units for ${RESERVATION_TTL_DEFAULT_SECONDS / 60} minutes, or for <code>ttl_seconds</code> from ${RESERVATION_TTL_MIN_SECONDS} to ${RESERVATION_TTL_MAX_SECONDS.toLocaleString('en-US')}. If too few are left, you get ${errorLink('not_available', site)}, and <code>error.remaining_quantity</code> says how many are.</p></li>
<li><p><strong>Report the order when it is paid.</strong> Name the reservation in the line: <code>reservation_id</code> in ${endpointLink(createOrder, site)}. The order takes exactly the reserved units.</p></li>
<li><p><strong>Release it when the buyer leaves.</strong> ${endpointLink(releaseReservation, site)} gives the units back at once. If you forget, it expires by itself. If the buyer needs more time, ${endpointLink(extendReservation, site)} counts the time anew, up to ${RESERVATION_LIFETIME_LIMIT_SECONDS / 3600} hours after the reservation was made.</p></li>
</ol>
<table class="event-types">
<thead><tr><th scope="col">Status</th><th scope="col">Who</th><th scope="col">What happens</th></tr></thead>
<tbody>${rows.map(([name, transition]) => stateRow(name, transition, site))}</tbody>
</table>
<ul class="rules">
<li><strong>An order is never refused.</strong> After expiry its line takes the units if they are still there; if not, it is stored with <code>match: null</code>, as always. A line with another quantity than the reservation releases it and takes what it asks for.</li>
<li><strong>A <code>reservation_id</code> that does not fit is ignored:</strong> of another integration, of another item, or of the other mode (test or live). The line is then matched as if it named none.</li>
<li><strong>Reserved units are gone for everybody.</strong> <code>quantity</code> falls, and a listing whose last unit is reserved reads <code>reserved</code>. Other channels learn of it by the usual events. What your own request causes is not sent to you; expiry and a release by the dealer are.</li>
<li><strong>The dealer may hide the item</strong> or take it off the channel: your reservation stays, and its order still matches. Deleting the item or the integration releases it.</li>
<li><strong>A list may be a moment late.</strong> Reading an item or a reservation by its id is exact. A list shows the units as reserved until the service has ended the reservation, about a second after its time.</li>
<li><strong>At most ${ACTIVE_RESERVATIONS_LIMIT} can be active</strong> at the same time for one integration; one more answers ${errorLink('too_many_reservations', site)}. You can read a reservation for ${RESERVATION_RETENTION_DAYS} days after it has ended.</li>
<li><strong>In test mode</strong> a reservation takes no units from the item, and test reservations do not count each other’s: you can reserve the same watch twice. To see ${errorLink('not_available', site)}, ask for more units than the item’s <code>quantity</code>.</li>
</ul>`,
  };
}

function stateRow(
  name: ReservationOperation,
  { by, label, from, to, effect }: ReservationTransition,
  site: Site,
): Html {
  const endpoint = ENDPOINTS[name];
  const what = endpoint === undefined ? html`${label}.` : html`${label}: ${endpointLink(endpoint, site)}.`;
  return html`<tr><th scope="row">${from.length === 0 ? null : html`${listOf(from)} → `}<code>${to}</code></th><td>${WHO[by]}</td>
<td>${what} ${effect}</td></tr>`;
}

function listOf(statuses: readonly string[]): Html {
  return html`${statuses.map((status, index) => html`${index > 0 ? ', ' : ''}<code>${status}</code>`)}`;
}
