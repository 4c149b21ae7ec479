import { readFileSync } from 'node:fs';
import { EVENT_TYPES, type EventType } from '../../../contract/event-types.ts';
import {
  DNS_ANSWER_KEPT_SECONDS,
  EVENT_LOG_DAYS,
  RECEIVER_ADDRESSES_LIMIT,
  TLS_HANDSHAKE_LIMIT_BYTES,
  WEBHOOK_RESPONSE_BODY_LIMIT_BYTES,
  WEBHOOK_RESPONSE_HEAD_LIMIT_BYTES,
  WEBHOOK_RESPONSE_HEAD_LINES_LIMIT,
  WEBHOOK_RESPONSE_HEADERS_LIMIT_BYTES,
  WEBHOOK_RESPONSE_PIECES_LIMIT,
} from '../../../contract/limits.ts';
import { OPERATIONS } from '../../../contract/operations.ts';
import { EventEnvelope, eventExample } from '../../../contract/resources/event.ts';
import { SIGNATURE_TOLERANCE_SECONDS, WEBHOOK_HEADERS } from '../../../contract/webhooks.ts';
import { GRACE_DEFAULT_HOURS } from '../../../webhooks/endpoints/rotate-signing-secret.ts';
import { type Chapter, chapterSection, contentsEntry, endpointLink } from '../chapter.ts';
import { jsonBlock, scriptBlock, shellBlock } from '../markup/code-block.ts';
import { html } from '../markup/html.ts';
import { fieldList, fieldsOf, type JsonSchema } from '../markup/schema-fields.ts';
import { counted, sentence } from '../markup/text.ts';
import type { OpenapiView } from '../openapi-view.ts';
import type { DocsPage, PageContent, Site } from '../page.ts';
import { deliveries } from './delivery-chapter.ts';
import { burst } from './list-chapters.ts';
import { curlOf } from './operation-reference.ts';

/** Read once: it is part of the release, and the tests run what the page shows. */
const RECEIVER = readFileSync(new URL('../../../../examples/receiver.mjs', import.meta.url), 'utf8');

export function webhooksPage(openapi: () => OpenapiView, site: Site): DocsPage {
  return {
    path: '/api/webhooks',
    title: 'Webhooks',
    label: 'Webhooks',
    group: 'Reference',
    description:
      'The events of the Crownwheel API: what each means and holds, how webhooks are signed, and how they are retried.',
    content: () => contentOf(openapi(), site),
  };
}

function contentOf(openapi: OpenapiView, site: Site): PageContent {
  const types = Object.keys(EVENT_TYPES) as EventType[];
  const chapters = [
    events(site),
    eventTypes(types, site),
    subscriptions(site),
    receiving(site),
    signatures(),
    deliveries(),
    burst(site),
    trying(openapi, site),
  ];
  return {
    hero: html`<div class="hero"><div>
<p class="eyebrow">Reference</p>
<h1>Webhooks</h1>
<p class="lead">When something changes at the dealer’s, an event is posted to your URL, signed, and again until you have it.
There are ${types.length} kinds; this page says what each means and how to receive it safely.</p>
</div></div>`,
    contents: [{ title: 'Webhooks', entries: chapters.map(contentsEntry) }],
    body: html`${chapters.map(chapterSection)}`,
  };
}

function events(site: Site): Chapter {
  return {
    id: 'events',
    title: 'Events',
    body: html`<div class="spread"><div>
<p>An event says that something happened to one listing, part or order. It is written in the same transaction as the change
itself, so there is no change without its event. A change that alters nothing you can read is no event.</p>
<p>The body of a webhook is the event. ${endpointLink(OPERATIONS.listEvents, site)} has the same bytes for ${EVENT_LOG_DAYS} days, also of events that no URL received.</p>
${fieldList(fieldsOf(EventEnvelope as JsonSchema), site, { marksRequired: false })}
</div><div class="examples">
${jsonBlock('A listing changed: read it', eventExample)}
${jsonBlock('A listing was deleted for ever: forget it', { ...eventExample, type: 'listing.unpublished', data: { object: { ...eventExample.data.object, deleted: true } } })}
${jsonBlock('Two units of a part were fitted: four are left', {
  ...eventExample,
  type: 'part.in_stock',
  data: {
    object: { id: 'prt_01h455vb4pex5vsknk084sn02q', object: 'part', quantity: 4 },
    previous_attributes: { quantity: 6 },
  },
})}
</div></div>`,
  };
}

function eventTypes(types: readonly EventType[], site: Site): Chapter {
  return {
    id: 'event-types',
    title: 'Event types',
    body: html`<table class="event-types">
<thead><tr><th scope="col">Type</th><th scope="col">When</th><th scope="col"><code class="event-type">data.object</code></th></tr></thead>
<tbody>${types.map((type) => {
      const { when, object, previous } = EVENT_TYPES[type];
      return html`<tr id="${type}"><th scope="row"><code class="event-type">${type}</code></th><td>${sentence(when, site)}</td><td><p>${sentence(object, site)}</p>
${previous === null ? null : html`<p class="previous"><code>previous_attributes</code> ${sentence(previous, site)}</p>`}</td></tr>
`;
    })}</tbody>
</table>
<ul class="rules">
<li><strong>An event is news, not the state.</strong> When you read a listing or part after its event, you get it as it is then, which may be newer than the event.</li>
<li><strong>One change, several events.</strong> A quantity that the dealer types is <code>part.updated</code> and <code>part.in_stock</code> or <code>part.sold_out</code>; a movement of stock is the stock event alone.</li>
<li><strong>Expect new types.</strong> Answer 2xx to one that you do not know.</li>
</ul>`,
  };
}

function subscriptions(site: Site): Chapter {
  return {
    id: 'subscriptions',
    title: 'Subscriptions and echoes',
    body: html`<p>The dealer sets your URL in the integration settings, and with it which events are posted there. ${endpointLink(OPERATIONS.getMe, site)} shows both.</p>
<ul class="rules">
<li><strong>Everything is the default.</strong> <code>*</code> is all events, also of kinds that are yet to come; <code>listing.*</code> is all of that namespace, and none of <code>part.*</code>.</li>
<li><strong>Your own writes come back to nobody.</strong> An order that you report or cancel and a customer that you upsert send you no event, and neither does the sale of a watch through your order. The answer to your request has told you already; the dealer’s other integrations are told.</li>
<li><strong>What is not subscribed is still listed</strong> in ${endpointLink(OPERATIONS.listEvents, site)}. Your own echoes are not.</li>
</ul>`,
  };
}

function receiving(site: Site): Chapter {
  return {
    id: 'headers',
    title: 'Receiving',
    body: html`<div class="spread"><div>
<p>A webhook is a <code>POST</code> to your URL with the event as its body and these headers.</p>
<dl class="fields">${Object.entries(WEBHOOK_HEADERS).map(
      ([name, { meaning, example }]) =>
        html`<div><dt><code>${name}</code><span class="kind">${example}</span></dt><dd>${sentence(meaning, site)}</dd></div>`,
    )}</dl>
</div><div>
<ul class="rules">
<li><strong>Check the signature first,</strong> over the raw body. Only then parse it.</li>
<li><strong>Store, answer, then work.</strong> Answer 2xx as soon as you have the event safely; the time for an answer is short.</li>
<li><strong>Keep the answer small.</strong> Its status is what counts, and at most ${counted(WEBHOOK_RESPONSE_BODY_LIMIT_BYTES, 'byte')} of what follows its headers are read. Where more comes, the connection is closed and the answer counts all the same. The attempt fails if the headers have ${counted(WEBHOOK_RESPONSE_HEADERS_LIMIT_BYTES, 'byte')}, or if more than ${counted(WEBHOOK_RESPONSE_HEAD_LINES_LIMIT, 'line')} or ${counted(WEBHOOK_RESPONSE_HEAD_LIMIT_BYTES, 'byte')} come before the body, those of 1xx answers included, or if it comes in more than ${counted(WEBHOOK_RESPONSE_PIECES_LIMIT, 'piece')} until then.</li>
<li><strong>Use TLS as browsers do:</strong> version 1.2 or 1.3 with ECDHE, and a certificate chain that is short. The attempt fails if more than ${counted(TLS_HANDSHAKE_LIMIT_BYTES, 'byte')} come before the connection stands. If TLS with you takes us much more time than usual, your connections wait.</li>
<li><strong>Keep your DNS quick.</strong> The name in your URL is looked up at most once in ${DNS_ANSWER_KEPT_SECONDS} seconds, also after it was not found. Of its addresses, ${RECEIVER_ADDRESSES_LIMIT} of IPv4 and ${RECEIVER_ADDRESSES_LIMIT} of IPv6 are used. The names of a dealer’s integrations are looked up one after the other, so one whose name servers do not answer delays the others.</li>
<li><strong>De-duplicate on <code>X-SVC-Event-Id</code>.</strong> Every event comes at least once. It comes again if your answer was lost on its way.</li>
<li><strong>Do not rely on the order.</strong> An event that had to be retried arrives after younger ones. A listing or part is read anew anyway; of an order keep the one with the latest <code>updated_at</code>.</li>
<li><strong>The URL is public and https.</strong> Redirects are not followed: they count as failures.</li>
</ul></div></div>`,
  };
}

function signatures(): Chapter {
  return {
    id: 'signatures',
    title: 'Checking the signature',
    body: html`<p>Anybody can post to your URL. What comes from here is signed with the signing secret of the integration: <code>whsec_</code> and
32 letters or digits, shown once in the integration settings. It is not the API key.</p>
<pre class="shape" tabindex="0"><code>X-SVC-Signature: t=<i>unix seconds</i>,v1=<i>hex</i>[,v1=<i>hex</i>…]</code></pre>
<ul class="rules">
<li><strong>What is signed</strong> is the value of <code>t</code>, a full stop, and the raw body, byte for byte as it arrived. Each <code>v1</code> is its HMAC-SHA256 in lower-case hex; the key is the whole secret, with its <code>whsec_</code>.</li>
<li><strong>Accept it if any <code>v1</code> is right.</strong> There are several while a secret is being rotated: the old one signs along for ${GRACE_DEFAULT_HOURS} hours unless the dealer chose otherwise, and never after its time.</li>
<li><strong>Compare in constant time,</strong> so that nobody can find a signature out bit by bit.</li>
<li><strong>Refuse what is off by more than ${SIGNATURE_TOLERANCE_SECONDS} seconds,</strong> earlier or later, so that an intercepted webhook cannot be sent again tomorrow. Every attempt is signed anew: a retry is not late by this measure.</li>
</ul>
<p>A whole receiver for Node, without dependencies. In a framework, take care to get the raw body: one that was parsed and written again is not what was signed.</p>
${scriptBlock('receiver.mjs', RECEIVER)}`,
  };
}

function trying(openapi: OpenapiView, site: Site): Chapter {
  const { pingWebhook } = OPERATIONS;
  return {
    id: 'testing',
    title: 'Trying it out',
    body: html`<div class="spread"><div>
<p>${endpointLink(pingWebhook, site)} posts an <code>integration.test_event</code> to your URL, whatever is subscribed. With no URL, or while
webhooks are off, <code>enqueued</code> is false and nothing is sent, not even later. To ping again, send another
<code>Idempotency-Key</code>: the same one gets the first answer and sends nothing.</p>
<p>In test mode you can also try every other event, without a dealer who sells a watch for you. Name it as <code>type</code>, and if you like a listing, part or order
of yours as <code>object_id</code>; else one is made up. The event is what the real one would be, with <code>livemode: false</code>, and it is sent whatever is
subscribed. Nothing else happens: the listing is not sold.</p>
<p>A new integration is in test mode: all its events have <code>livemode: false</code>. Let your receiver run with them from end to end, then ask the
dealer to turn test mode off.</p>
</div><div class="examples">
${shellBlock('Request', curlOf(pingWebhook, openapi, site))}
${jsonBlock('Answer', pingWebhook.success.example)}
${jsonBlock('A body that sends another event', { type: 'listing.sold', object_id: 'lst_01h455vb4pex5vsknk084sn02q' })}
</div></div>`,
  };
}
