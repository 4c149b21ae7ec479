import {
  ANSWER_PIECE_LIMIT_MS,
  BODY_LIMIT_BYTES,
  BYTES_PER_MB,
  CONNECTIONS_PER_ADDRESS_DEFAULT,
  COUNTED_BYTES_PER_WRITE,
  DEALER_QUOTA_TIMES,
  IDEMPOTENCY_RETENTION_HOURS,
  LARGE_BODY_BYTES_PER_SECOND,
  LARGE_PAGE_BYTES_PER_SECOND,
  RATE_LIMIT_DEFAULT,
  RATE_WINDOW_MS,
  READ_WAIT_LIMIT_MS,
  STORAGE_QUOTA_DEFAULT_MB_PER_DAY,
  UNANSWERED_REQUESTS_LIMIT,
} from '../../../contract/limits.ts';
import type { Operation } from '../../../contract/operations/operation.ts';
import { OPERATIONS } from '../../../contract/operations.ts';
import { CURRENT_VERSION } from '../../../contract/versions.ts';
import { type Chapter, chapterSection, contentsEntry, endpointLinks } from '../chapter.ts';
import { costText, methodBadge } from '../markup/badges.ts';
import { jsonBlock, shellBlock } from '../markup/code-block.ts';
import { windingDrawing } from '../markup/crown-wheel.ts';
import { type Html, html } from '../markup/html.ts';
import { errorLink, sentence } from '../markup/text.ts';
import type { OpenapiView } from '../openapi-view.ts';
import type { DocsPage, PageContent, Site } from '../page.ts';
import { pagination, sync } from './list-chapters.ts';
import { curlOf, operationSection } from './operation-reference.ts';
import { orderOfChecks } from './order-of-checks.ts';
import { orderStates } from './order-states.ts';
import { reservations } from './reservations.ts';

export function overviewPage(openapi: () => OpenapiView, site: Site): DocsPage {
  return {
    path: '/api',
    title: 'API reference',
    label: 'Overview',
    group: 'Reference',
    description: 'The Crownwheel API connects a website to a watch dealer’s inventory and orders.',
    content: () => contentOf(openapi(), site),
  };
}

function contentOf(openapi: OpenapiView, site: Site): PageContent {
  const operations: Operation[] = Object.values(OPERATIONS);
  const chapters = [
    quickStart(openapi, site),
    authentication(site),
    checks(operations, site),
    rateLimits(operations, site),
    pagination(operations, site),
    sync(site),
    idempotency(operations, site),
    reservations(site),
    orderStates(site),
    conventions(operations, openapi, site),
    versioning(site),
  ].filter((chapter) => chapter !== null);
  const reference = endpoints(operations, openapi, site);
  return {
    hero: html`<div class="hero with-drawing"><div>
<p class="eyebrow">Reference</p>
<h1>The Crownwheel API</h1>
<p class="lead">It connects a website to a watch dealer’s inventory and orders: plain JSON over HTTPS,
one key for each integration, and promises that you can build on.</p>
<dl class="coordinates">
<div><dt>Base URL</dt><dd><code class="long">${site.publicUrl}/api</code></dd></div>
<div><dt>Machine-readable</dt><dd><a href="${site.basePath}/api/v1/openapi.json">OpenAPI 3.1 document</a></dd></div>
</dl>
</div>${windingDrawing()}</div>`,
    contents: [
      { title: 'Overview', entries: chapters.map(contentsEntry) },
      { title: 'Endpoints', entries: reference.map(contentsEntry) },
    ],
    body: html`${[...chapters, ...reference].map(chapterSection)}`,
  };
}

function quickStart(openapi: OpenapiView, site: Site): Chapter {
  return {
    id: 'quick-start',
    title: 'Quick start',
    body: html`<div class="spread"><div>
<p>First see that the service answers. This needs no key.</p>
<p>Then put the key of your integration into the environment and ask who you are. The dealer makes the key in the
integration settings; it is shown once. A new integration is in test mode, so nothing that you try can do harm.</p>
<p>Paths on this page are written from the base URL: <code>/v1/me</code> is <code class="long">${site.publicUrl}/api/v1/me</code>.</p>
</div><div class="examples">
${shellBlock('Terminal', `${curlOf(OPERATIONS.getHealth, openapi, site)}\n\nexport CROWNWHEEL_KEY=svc_…\n${curlOf(OPERATIONS.getMe, openapi, site)}`)}
${jsonBlock('Answer to the first', OPERATIONS.getHealth.success.example)}
</div></div>`,
  };
}

function authentication(site: Site): Chapter {
  return {
    id: 'authentication',
    title: 'Authentication',
    body: html`<p>Send the key as a bearer token with every request, except to the endpoints that are marked as free.
A key is <code>svc_</code> and 32 letters or digits. It stands for one integration of one dealer, and reaches nothing else.</p>
<pre class="shape" tabindex="0"><code>Authorization: Bearer <b>svc_</b><i>32 letters or digits</i></code></pre>
<ul class="rules">
<li><strong>Keep it on the server.</strong> Whoever has the key can act as the integration. It does not belong in a browser or an app.</li>
<li><strong>Regenerating is immediate.</strong> The old key stops with the next request and answers ${errorLink('invalid_api_key', site)}.</li>
<li><strong>Settings hold at once.</strong> Whatever the dealer changes, such as switching the integration off, applies from the next request.</li>
</ul>`,
  };
}

function checks(operations: readonly Operation[], site: Site): Chapter {
  return {
    id: 'order-of-checks',
    title: 'Order of checks',
    body: html`<p>Each request passes the same checks in the same order. The first that fails answers, so an error also says what was in order.</p>
${orderOfChecks(operations, site)}`,
  };
}

function rateLimits(operations: readonly Operation[], site: Site): Chapter {
  const seconds = RATE_WINDOW_MS / 1000;
  return {
    id: 'rate-limits',
    title: 'Rate limits',
    body: html`<div class="spread"><div>
<p>An integration may spend <strong>${RATE_LIMIT_DEFAULT} tokens in any ${seconds} seconds</strong>, unless its limit was raised.
The window rolls: there is no moment at which a full new minute begins. Each request spends what its endpoint costs.</p>
<ul class="rules">
<li><strong>Everything counts once the key is known,</strong> errors too. A request that fails authentication does not count, and neither does one that was refused with 429.</li>
<li><strong><code>Retry-After</code> is true.</strong> ${errorLink('too_many_requests', site)} says after how many seconds this very request fits. Wait that long, and it passes if nothing else was sent meanwhile.</li>
<li><strong>Concurrent reads are limited.</strong> Only so many reads of one dealer run at the same time, and the dealer’s integrations take turns. The others wait up to ${READ_WAIT_LIMIT_MS / 1000} seconds, then they answer ${errorLink('overloaded', site)}. An answer that has not changed is not limited.</li>
<li><strong>Read what you ask for.</strong> A page of more than 2 MB is sent as fast as you read it, up to ${LARGE_PAGE_BYTES_PER_SECOND / BYTES_PER_MB} MB a second for all clients together. A client that takes longer than ${ANSWER_PIECE_LIMIT_MS / 1000} seconds for a quarter of a megabyte is disconnected, and so is one whose page changed while it was sent: the body then has no end. Ask again, or for fewer objects with <code>limit</code>.</li>
<li><strong>Large bodies wait for each other.</strong> Bodies of more than 128 KB are read at up to ${LARGE_BODY_BYTES_PER_SECOND / BYTES_PER_MB} MB a second for all clients together, each dealer in turn. If too many of yours are sent at once, the last of them answer ${errorLink('overloaded', site)}.</li>
<li><strong>Keep connections.</strong> One address may have ${CONNECTIONS_PER_ADDRESS_DEFAULT} connections open to one process of the service, unless the operator set another number. One more is answered ${errorLink('overloaded', site)} and closed, or closed at once. When all clients together have as many as the process can bear, the oldest connection of the address with the most is closed for a new one. Use each for many requests, as HTTP clients do with keep-alive. A connection that sends more than ${UNANSWERED_REQUESTS_LIMIT} further requests without waiting for an answer is closed; a network that does so again and again can open no connection for ten seconds.</li>
<li><strong>Back off.</strong> If 429 comes again, wait up to min(60, <code>Retry-After</code> × 2<sup>attempts</sup>) seconds, and give up after five attempts.</li>
<li><strong>Storage has a quota.</strong> In a UTC day the writes of one integration may store ${STORAGE_QUOTA_DEFAULT_MB_PER_DAY / 1024} GB, unless the operator set another quota. A write counts the bytes of its answer and of what it stores, at least those of its body plus ${COUNTED_BYTES_PER_WRITE}. An order counts the documents and events of the dealer’s other channels, too. Replays and failures do not count. All integrations of a dealer may together store ${DEALER_QUOTA_TIMES} times as much. Past the quota, writes answer ${errorLink('storage_quota_exceeded', site)} until midnight UTC. Reads go on.</li>
</ul>
</div>
<table class="costs">
<thead><tr><th scope="col">Endpoint</th><th scope="col">Cost</th></tr></thead>
<tbody>${operations
      .toSorted((a, b) => b.cost - a.cost)
      .map(
        (operation) =>
          html`<tr><td><a class="endpoint" href="#${operation.id}">${methodBadge(operation.method)}<code>${operation.path}</code></a></td><td>${costText(operation)}</td></tr>`,
      )}</tbody>
</table></div>`,
  };
}

/** Shown only when there is something to write. */
function idempotency(operations: readonly Operation[], site: Site): Chapter | null {
  const writes = operations.filter((operation) => operation.isIdempotent);
  if (writes.length === 0) return null;
  return {
    id: 'idempotency',
    title: 'Idempotency',
    body: html`<p>Every write carries an <code>Idempotency-Key</code>, so that a request whose answer was lost can be sent again without being done twice: ${endpointLinks(writes, site)}.</p>
<ul class="rules">
<li><strong>One key for one operation.</strong> A random UUID will do; the keys in the samples are only examples. Send the same key and the same body when you retry. The same body means the same bytes: with one more space it is another body, so store what you sent, or make it in the same way again.</li>
<li><strong>A key belongs to the integration,</strong> not to the endpoint. A key that made an order can’t make a customer.</li>
<li><strong>A repeat gets the first answer,</strong> byte for byte, with <code>Idempotent-Replay: true</code>. It counts against the rate limit. If the dealer has erased the person meanwhile, what was about them reads <code>null</code>.</li>
<li><strong>Only success spends a key.</strong> A request that failed has changed nothing and may be repaired and sent again with its key.</li>
<li><strong>The same key with another body or on another path</strong> answers ${errorLink('key_reused_with_different_body', site)}. Keys are remembered for ${IDEMPOTENCY_RETENTION_HOURS} hours.</li>
</ul>`,
  };
}

function conventions(operations: readonly Operation[], openapi: OpenapiView, site: Site): Chapter {
  const sent = new Set([...operations.flatMap(openapi.successHeadersOf), 'Retry-After']);
  const headers = Object.entries(openapi.headers).filter(([name]) => sent.has(name));
  return {
    id: 'conventions',
    title: 'Conventions',
    body: html`<div class="spread"><div><ul class="rules">
<li><strong>JSON both ways,</strong> in UTF-8. A request with a body sends <code>Content-Type: application/json</code>; a body has at most ${BODY_LIMIT_BYTES.toLocaleString('en-US')} bytes unless its endpoint says otherwise.</li>
<li><strong>Times</strong> are UTC with milliseconds, in ISO 8601: <code>2026-05-08T09:00:00.123Z</code>.</li>
<li><strong>Ids</strong> are text with a prefix that says what they name, such as <code>int_</code>. Do not look for more in them.</li>
<li><strong>Answers grow.</strong> Ignore fields that you do not know, and expect new ones. The same holds for values: a status, an event type, an error code or a label may be one that you have never seen.</li>
<li><strong>Unknown names are reported.</strong> A field or a query parameter that nobody knows is accepted and not stored, and the answer names it in <code>X-Ignored-Fields</code>. Log that header while you build: it shows typos such as <code>updated_afer</code>. The <code>metadata</code> of a customer is known, so it is not named; it is checked and not stored.</li>
<li><strong>Errors</strong> share one shape and are listed, with causes and remedies, in <a href="${site.basePath}/docs/api/errors">Errors</a>.</li>
</ul></div>
<div><h3 class="minor">Response headers</h3>
<dl class="fields">${headers.map(
      ([name, header]) => html`<div><dt><code>${name}</code></dt><dd>${sentence(header.description, site)}</dd></div>`,
    )}</dl></div></div>`,
  };
}

function versioning(site: Site): Chapter {
  return {
    id: 'versioning',
    title: 'Versioning',
    body: html`<p>Versions are dates. An integration is pinned to the newest one when it is made, at present <code>${CURRENT_VERSION}</code>, and keeps it:
it is rolled forward on request, never by itself. Every answer names the version in <code>X-API-Version</code>; sending that header has no effect.</p>
<div class="halves">
<div><h3 class="minor">Arrives in your version</h3>
<ul class="plain"><li>New endpoints</li><li>New optional request fields</li><li>New response fields</li><li>New event types</li><li>New <a href="${site.basePath}/docs/api/errors">error codes</a></li><li>Better wording of messages</li></ul></div>
<div><h3 class="minor">Waits for a new version</h3>
<ul class="plain"><li>Removing or renaming an endpoint, a field or an event type</li><li>Stricter validation</li><li>A new meaning for a field</li><li>Another signing algorithm or header format</li><li>Another cursor format or way of paging</li></ul></div>
</div>`,
  };
}

/** One chapter for each tag, in the order of the description. */
function endpoints(operations: readonly Operation[], openapi: OpenapiView, site: Site): Chapter[] {
  const byTag = Map.groupBy(operations, (operation) => operation.tag as string);
  return openapi.tags.flatMap((tag) => {
    const members = byTag.get(tag.name) ?? [];
    if (members.length === 0) return [];
    return [
      {
        id: `tag-${tag.name.toLowerCase().replaceAll(' ', '-')}`,
        eyebrow: 'Endpoints',
        title: tag.name,
        body: html`<p>${sentence(tag.description, site)}${tag.name === 'Events' ? webhooksLink(site) : null}</p>${members.map((operation) => operationSection(operation, openapi, site))}`,
        entries: members.map((operation) => ({
          id: operation.id,
          label: html`${methodBadge(operation.method)}<code>${operation.path}</code>`,
        })),
      },
    ];
  });
}

function webhooksLink(site: Site): Html {
  return html` <a href="${site.basePath}/docs/api/webhooks#event-types">Event types</a> explains each kind, and what it holds.`;
}
