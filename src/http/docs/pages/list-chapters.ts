import { EVENT_LOG_DAYS, RATE_LIMIT_DEFAULT, READ_IDS_LIMIT } from '../../../contract/limits.ts';
import type { Operation } from '../../../contract/operations/operation.ts';
import { OPERATIONS } from '../../../contract/operations.ts';
import { type Chapter, endpointLink, endpointLinks } from '../chapter.ts';
import { html } from '../markup/html.ts';
import type { JsonSchema } from '../markup/schema-fields.ts';
import { errorLink } from '../markup/text.ts';
import type { Site } from '../page.ts';

/** Shown only when there is a list to read. */
export function pagination(operations: readonly Operation[], site: Site): Chapter | null {
  const lists = operations.filter((operation) => 'after' in ((operation.query as JsonSchema).properties ?? {}));
  if (lists.length === 0) return null;
  const byIds = lists.filter((operation) => 'ids' in ((operation.query as JsonSchema).properties ?? {}));
  return {
    id: 'pagination',
    title: 'Pagination',
    body: html`<p>Lists come in pages, newest change first: ${endpointLinks(lists, site)}.</p>
<ul class="rules">
<li><strong>Follow the cursor.</strong> Ask without <code>after</code> first; then pass <code>next_cursor</code> on, unchanged, as <code>after</code>, until <code>has_more</code> is false.</li>
<li><strong>Nothing is skipped or repeated</strong> at the edge of a page, also while rows are being added. A row that changes during the walk moves to the top, and comes with the next one.</li>
<li><strong>A cursor carries the filters</strong> that it was made under, such as <code>updated_after</code>, <code>status</code> or <code>type</code>. Leave them out on the next pages, or send the same ones; a different one answers ${errorLink('invalid_request', site)}. <code>limit</code> may change from page to page.</li>
<li><strong>Cursors are opaque</strong> and do not expire by themselves. One that was altered, made by hand or taken from another list answers ${errorLink('invalid_cursor', site)}. So does an old one after the operator has replaced the secret keys of the service, which is rare: then begin the list again.</li>
<li><strong>Read many by their ids.</strong> ${endpointLinks(byIds, site)} with <code>ids</code> answer up to ${READ_IDS_LIMIT} objects at once, in the order asked and in every status, for one token. What you can’t read is in <code>missing</code>. Send the commas as they are: escaped, a long list passes the 8 KB that many proxies allow.</li>
<li><strong>Unchanged pages are cheap.</strong> Send the <code>ETag</code> of an answer in <code>If-None-Match</code>: while nothing has changed, 304 comes without a body.</li>
</ul>`,
  };
}

/** How to keep a copy by reading alone. The client of the sync tests does exactly this. */
export function sync(site: Site): Chapter {
  const { listListings, listParts, listOrders, listEvents } = OPERATIONS;
  return {
    id: 'sync',
    title: 'Staying in sync',
    body: html`<p>A copy of the dealer’s stock stays complete with two kinds of reads: the lists show what came or changed, the
events show what is gone. <a href="${site.basePath}/docs/api/webhooks">Webhooks</a> send the same changes at once; this catches up on whatever they missed.</p>
<ol class="checks">
<li><p><strong>Note where the events stand.</strong> Before the first walk, read ${endpointLink(listEvents, site)} with <code>limit=1</code> and keep the <code>created_at</code> of its event as the mark of the events. If there is none yet, there is no mark.</p></li>
<li><p><strong>Walk each list once.</strong> Read ${endpointLinks([listListings, listParts], site)} with <code>status=any</code>, and ${endpointLink(listOrders, site)}, to the last page. Remember the <code>updated_at</code> of the first row of the first page.</p></li>
<li><p><strong>Move the mark only when the last page is stored.</strong> Lists run from the newest change to the oldest, so a walk that stopped half-way has not seen the older changes yet: it starts again from the mark as it was.</p></li>
<li><p><strong>Come back with the mark.</strong> Send it as <code>updated_after</code>. The list then holds what changed since, in every status, so that you also learn what was sold or taken off. Walk it to the end, then move the mark to its first row; if there is no row, the mark stays.</p></li>
<li><p><strong>Then take out what is gone.</strong> A part off the channel and an item that was deleted are in no list. After the lists, read ${endpointLink(listEvents, site)} with <code class="long">type=listing.unpublished,<wbr>part.unpublished</code> and the mark of the events as <code>created_after</code>; without a mark leave it out. The <code>created_at</code> of the first one is the next mark; if there is none, the mark stays. Remove what a <code>part.unpublished</code> names, and what has <code>deleted: true</code>, unless the <code>updated_at</code> of your copy is later than the event: then it was published again.</p></li>
</ol>
<ul class="rules">
<li><strong>So no change is missed.</strong> A change never gets a time that is earlier than, or equal to, one that you could already read, however many people work at the dealer’s. Times of rows and of events are of one clock, and yours does not matter.</li>
<li><strong>Keep one mark for each list.</strong> Treat it as text, and send it as you got it.</li>
<li><strong>After more than ${EVENT_LOG_DAYS} days away</strong> begin anew, and drop what the lists no longer hold: older events are not kept.</li>
</ul>`,
  };
}

/** How to follow more webhooks than the rate limit has tokens. */
export function burst(site: Site): Chapter {
  const { listListings, listParts } = OPERATIONS;
  return {
    id: 'bursts',
    title: 'Following a burst',
    body: html`<p>When the dealer changes a markup or an exchange rate, every listing changes, and each change is an event: 1,500 listings
are 1,500 webhooks within seconds. An event names its listing or part and does not hold it, so a read for each of them would need more than the
${RATE_LIMIT_DEFAULT} tokens that you have in a minute. You need far fewer:</p>
<ul class="rules">
<li><strong>Collect, then read many.</strong> Store what each event names and answer 2xx. After a second or two, read the ids that have come together with one request for ${READ_IDS_LIMIT} of them: ${endpointLinks([listListings, listParts], site)} with <code>ids</code>. 1,500 listings are 6 requests. Each id is read once, however many events named it. Remove from your copy what is in <code>missing</code>.</li>
<li><strong>Or pull once for all.</strong> If the ids do not matter to you, read the list with your last mark as <code>updated_after</code> and walk it to the end, as in <a href="${site.basePath}/docs/api#sync">Staying in sync</a>. That is one request for each ${READ_IDS_LIMIT} changes, and it also brings those whose webhook has not arrived yet.</li>
<li><strong>The order does not matter.</strong> Both reads show each object as it is now. A late webhook leads to the same copy again.</li>
</ul>`,
  };
}
