import { STATUS_CODES } from 'node:http';
import {
  ApiError,
  ERROR_CODES,
  ERROR_TYPES,
  ERRORS,
  type ErrorCode,
  type ErrorDetails,
  type ErrorType,
  errorEnvelope,
} from '../../../contract/errors.ts';
import { RETRY_AFTER_CODES } from '../../../contract/openapi/openapi.ts';
import type { Operation } from '../../../contract/operations/operation.ts';
import { ADMISSION_ERRORS, OPERATIONS, TRANSPORT_ERRORS, WRITE_ERRORS } from '../../../contract/operations.ts';
import { orderExample } from '../../../contract/resources/order.ts';
import { statusBadge } from '../markup/badges.ts';
import { jsonBlock } from '../markup/code-block.ts';
import { type Html, html, join } from '../markup/html.ts';
import { fieldList, fieldsOf, type JsonSchema } from '../markup/schema-fields.ts';
import { errorLink, sentence } from '../markup/text.ts';
import type { OpenapiView } from '../openapi-view.ts';
import type { DocsPage, PageContent, Site } from '../page.ts';

/** The words over each group of codes; the codes themselves come from the catalogue. */
const GROUPS: Readonly<Record<ErrorType, { title: string; lead: string }>> = {
  authentication_error: {
    title: 'Authentication',
    lead: 'The request could not be tied to an integration. It was not counted against the rate limit.',
  },
  permission_error: {
    title: 'Permission',
    lead: 'The key is right, but its integration may not be served now. Retrying does not help until someone acts.',
  },
  validation_error: {
    title: 'Validation',
    lead: 'The request itself has to change, except after `request_timeout`. Sending it again as it is gives the same answer.',
  },
  idempotency_error: {
    title: 'Idempotency',
    lead: 'The `Idempotency-Key` belongs to another request, or to one that is still running.',
  },
  conflict_error: {
    title: 'Conflict',
    lead: 'The request is well formed, but it disagrees with what is already stored. Nothing was changed.',
  },
  rate_limit_error: {
    title: 'Rate limit',
    lead: 'Too much was asked or stored in too short a time. A request that the rate limit refuses costs nothing.',
  },
  not_found: {
    title: 'Not found',
    lead: 'There is nothing here for this key. What belongs to another dealer is answered in the same way.',
  },
  api_error: {
    title: 'Server',
    lead: 'The fault is on our side. A write that was answered so has changed nothing and is safe to retry.',
  },
};

/** Where the bare message would hide what the envelope usually carries. */
const EXAMPLE_DETAILS: Partial<Record<ErrorCode, ErrorDetails>> = {
  invalid_request: { message: 'limit must be an integer.', param: 'limit' },
  missing_idempotency_key: { param: 'Idempotency-Key' },
  invalid_cursor: { param: 'after' },
  customer_contact_conflict: {
    message: 'The email belongs to a customer with another external_id.',
    param: 'email',
  },
  route_not_found: { message: 'There is no endpoint GET /api/v1/me/.' },
  duplicate_channel_order_id: { param: 'channel_order_id', facts: { existing_id: orderExample.id } },
  not_available: {
    message: 'Too few units are left: you asked for 1, and 0 can be reserved.',
    facts: { remaining_quantity: 0 },
  },
};

export function errorCataloguePage(openapi: () => OpenapiView, site: Site): DocsPage {
  return {
    path: '/api/errors',
    title: 'Errors',
    label: 'Errors',
    group: 'Reference',
    description:
      'Every error code of the Crownwheel API: its status, its type, what causes it and what to do about it.',
    content: () => contentOf(openapi(), site),
  };
}

function contentOf(openapi: OpenapiView, site: Site): PageContent {
  return {
    hero: html`<div class="hero"><div>
<p class="eyebrow">Reference</p>
<h1>Errors</h1>
<p class="lead">When a request fails, the answer says so in one shape. Match on its <code>code</code>: it never changes.
The ${ERROR_CODES.length} codes are explained here, each with its cause and with what to do about it.</p>
</div></div>`,
    contents: [
      {
        title: 'Errors',
        entries: [
          { id: 'envelope', label: 'The envelope' },
          { id: 'handling', label: 'Handling errors' },
        ],
      },
      {
        title: 'Codes',
        entries: ERROR_TYPES.map((type) => ({
          id: groupId(type),
          label: GROUPS[type].title,
          entries: codesOf(type).map((code) => ({ id: code, label: html`<code>${breakable(code)}</code>` })),
        })),
      },
    ],
    body: html`${envelopeSection(openapi, site)}${handlingSection(site)}${ERROR_TYPES.map(
      (type) => html`<section class="group" id="${groupId(type)}">
<header><h2>${GROUPS[type].title}</h2><code class="group-type">${type}</code></header>
<p class="group-lead">${sentence(GROUPS[type].lead, site)}</p>
${codesOf(type).map((code) => errorSection(code, openapi, site))}
</section>`,
    )}`,
  };
}

/** Both forms of the anchor lead here: the section has the code as its id, and the older form is on an element in it. */
function errorSection(code: ErrorCode, openapi: OpenapiView, site: Site): Html {
  const { status, type, cause, recovery } = ERRORS[code];
  const envelope = errorEnvelope(new ApiError(code, EXAMPLE_DETAILS[code]), openapi.exampleRequestId, site.publicUrl);
  const returnedBy = returnedByText(code, site);
  return html`<section class="error" id="${code}">
<span class="older-anchor" id="errors-${code}"></span>
<div class="explanation">
<h3><a href="#${code}"><code>${breakable(code)}</code></a></h3>
<p class="facts">${statusBadge(status)}<span>${STATUS_CODES[status] ?? ''}</span><code class="type">${type}</code></p>
<dl class="story">
<dt>Cause</dt><dd class="cause">${sentence(cause, site)}</dd>
<dt>Recovery</dt><dd class="recovery">${sentence(recovery, site)}</dd>
${returnedBy === null ? null : html`<dt>Returned by</dt><dd class="returned-by">${returnedBy}</dd>`}
</dl>
</div>
${jsonBlock(`HTTP ${status}`, envelope)}
</section>
`;
}

function envelopeSection(openapi: OpenapiView, site: Site): Html {
  const error = openapi.errorSchema.properties?.error ?? {};
  return html`<section class="chapter" id="envelope">
<h2>The envelope</h2>
<div class="spread"><div>
<p>Every error has a JSON body with one member, <code>error</code>. The HTTP status follows from the code.</p>
${fieldList(
  fieldsOf(error).map((field) => ({ ...field, schema: withoutValues(field.schema) })),
  site,
  { marksRequired: false },
)}
</div>
${jsonBlock(
  'Example',
  errorEnvelope(
    new ApiError('invalid_request', EXAMPLE_DETAILS.invalid_request),
    openapi.exampleRequestId,
    site.publicUrl,
  ),
)}
</div></section>
`;
}

/** The rest of the page lists the codes and types, so the envelope does not. */
function withoutValues(schema: JsonSchema): JsonSchema {
  const [choice = schema] = schema.anyOf ?? [];
  return choice.enum === undefined ? schema : { type: choice.type ?? 'string' };
}

function handlingSection(site: Site): Html {
  return html`<section class="chapter" id="handling">
<h2>Handling errors</h2>
<ul class="rules">
<li><strong>Match on <code>code</code>.</strong> Codes never change. The wording of <code>message</code> may, at any time.</li>
<li><strong>Expect new codes.</strong> Treat one you do not know by its HTTP status.</li>
<li><strong>Retry what can pass.</strong> Server errors, ${errorLink('auth_lookup_failed', site)} and ${errorLink('request_timeout', site)} pass by themselves: wait a little longer each time.
After ${join(
    RETRY_AFTER_CODES.map((code) => errorLink(code, site)),
    ', ',
  )} wait as long as <code>Retry-After</code> says.</li>
<li><strong>Keep <code>request_id</code>.</strong> It is also in the <code>X-Request-Id</code> header, and it finds your request in our logs.</li>
</ul>
${statusTable(site)}
</section>
`;
}

function statusTable(site: Site): Html {
  const byStatus = [...Map.groupBy(ERROR_CODES, (code) => ERRORS[code].status)].sort(([a], [b]) => a - b);
  const rows = byStatus.map(([status, codes]) => {
    const phrase = STATUS_CODES[status] ?? '';
    const links = codes.map((code) => errorLink(code, site));
    return html`<tr><th scope="row">${statusBadge(status)}<span class="phrase">${phrase}</span></th><td>${join(links, ' ')}</td></tr>`;
  });
  return html`<table class="tally">
<thead><tr><th scope="col">Status</th><th scope="col">Codes</th></tr></thead>
<tbody>${rows}</tbody>
</table>`;
}

/** Which requests can meet a code, as the operations declare it; null where none does. */
function returnedByText(code: ErrorCode, site: Site): Html | null {
  const operations: Operation[] = Object.values(OPERATIONS);
  if (TRANSPORT_ERRORS.includes(code)) return html`Any request.`;
  if (ADMISSION_ERRORS.includes(code)) return html`Any request that needs a key.`;
  if (WRITE_ERRORS.includes(code) && operations.some((operation) => operation.isIdempotent)) {
    return html`Any request that needs an <code>Idempotency-Key</code>.`;
  }
  const returning = operations.filter((operation) => operation.errors.includes(code));
  if (returning.length === 0) return null;
  return join(
    returning.map(
      (operation) =>
        html`<a class="code-link" href="${site.basePath}/docs/api#${operation.id}"><code>${operation.method}&nbsp;${operation.path}</code></a>`,
    ),
    ', ',
  );
}

function codesOf(type: ErrorType): ErrorCode[] {
  return ERROR_CODES.filter((code) => ERRORS[code].type === type);
}

function groupId(type: ErrorType): string {
  return `type-${type}`;
}

/** Long codes may break after an underscore, so that they fit a narrow screen. */
function breakable(code: string): Html {
  return join(
    code.split(/(?<=_)/).map((part) => html`${part}`),
    html`<wbr>`,
  );
}
