import { STATUS_CODES } from 'node:http';
import { ERRORS } from '../../../contract/errors.ts';
import { BODY_LIMIT_BYTES } from '../../../contract/limits.ts';
import type { Operation } from '../../../contract/operations/operation.ts';
import { errorsOf, OPERATIONS } from '../../../contract/operations.ts';
import { costText, methodBadge, statusBadge } from '../markup/badges.ts';
import { jsonBlock, shellBlock } from '../markup/code-block.ts';
import { type Html, html } from '../markup/html.ts';
import { type Field, fieldList, fieldsOf, type Home, type JsonSchema } from '../markup/schema-fields.ts';
import { errorLink, sentence } from '../markup/text.ts';
import type { OpenapiView, Parameter } from '../openapi-view.ts';
import type { Site } from '../page.ts';

/** A resource is described at the first operation that answers with it alone; lists of it lead there. */
const RESOURCE_HOMES: ReadonlyMap<string, Home> = new Map(
  (Object.values(OPERATIONS) as Operation[])
    .map((operation): [string, Home] => [
      (operation.success.schema as JsonSchema).$id ?? '',
      { id: operation.id, title: operation.summary },
    ])
    .filter(([name]) => name !== '')
    .reverse(),
);

/** One operation: what it does and takes on one side, a request and its answer on the other. */
export function operationSection(operation: Operation, openapi: OpenapiView, site: Site): Html {
  return html`<section class="operation" id="${operation.id}">
<h3><a href="#${operation.id}">${operation.summary}</a></h3>
<p class="route">${methodBadge(operation.method)}<code>${operation.path}</code><span class="cost">${costText(operation)}</span></p>
<div class="spread"><div>
<p>${sentence(operation.description, site)}</p>
${parameterLists(operation, openapi, site)}
${bodyFields(operation, site)}
${answerFields(operation, site)}
${errorList(operation, site)}
</div><div class="examples">
${shellBlock('Request', curlOf(operation, openapi, site))}
${jsonBlock(answerCaption(operation), operation.success.example)}
</div></div>
</section>
`;
}

/** Where success has two statuses, the caption says which is which. */
function answerCaption(operation: Operation): Html {
  const { success, alsoSuccess } = operation;
  if (alsoSuccess === undefined) return html`${statusBadge(success.status)}${STATUS_CODES[success.status] ?? ''}`;
  return html`${[success, alsoSuccess].map(
    ({ status, description }) => html`<span class="outcome">${statusBadge(status)}${description}</span> `,
  )}`;
}

/** A request that can be pasted into a terminal; placeholders stand where only the reader knows the value. */
export function curlOf(operation: Operation, openapi: OpenapiView, site: Site): string {
  const parameters = openapi.parametersOf(operation);
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => {
    const example = parameters.find((parameter) => parameter.in === 'path' && parameter.name === name)?.example;
    return example === undefined ? placeholder : String(example);
  });
  const idempotencyKey = parameters.find((parameter) => parameter.name === 'Idempotency-Key')?.example;
  const body = bodyText(operation);
  const options = [
    operation.isOpen ? null : '-H "Authorization: Bearer $CROWNWHEEL_KEY"',
    idempotencyKey === undefined ? null : `-H "Idempotency-Key: ${idempotencyKey}"`,
    body === null ? null : '-H "Content-Type: application/json"',
    body === null ? null : `-d '${body.replaceAll("'", "'\\''")}'`,
  ].filter((option) => option !== null);
  const method = operation.method === 'GET' ? '' : `-X ${operation.method} `;
  return [`curl ${method}${site.publicUrl}/api${path}`, ...options].join(' \\\n  ');
}

/** The body of the example, or null where nothing needs to be sent. */
function bodyText(operation: Operation): string | null {
  const { bodyExample } = operation;
  if (bodyExample === undefined || JSON.stringify(bodyExample) === '{}') return null;
  return JSON.stringify(bodyExample, null, 2);
}

function parameterLists(operation: Operation, openapi: OpenapiView, site: Site): Html[] {
  const titles: Record<Parameter['in'], string> = {
    path: 'Path parameters',
    query: 'Query parameters',
    header: 'Request headers',
  };
  const byPlace = Map.groupBy(openapi.parametersOf(operation), (parameter) => parameter.in);
  return [...byPlace].map(
    ([location, parameters]) => html`<h4>${titles[location]}</h4>
${fieldList(parameters.map(fieldOf), site, { marksRequired: true })}`,
  );
}

function fieldOf(parameter: Parameter): Field {
  return {
    path: parameter.name,
    schema: parameter.schema,
    description: parameter.description ?? '',
    isRequired: parameter.required,
    home: null,
  };
}

function bodyFields(operation: Operation, site: Site): Html | null {
  if (operation.body === null) return null;
  const fields = fieldsOf(operation.body as JsonSchema);
  if (fields.length === 0) return null;
  const limit = operation.bodyLimitBytes.toLocaleString('en-US');
  const remarks = [
    (operation.body as JsonSchema).description ?? '',
    operation.isBodyOptional ? 'It may be left out.' : '',
    operation.bodyLimitBytes === BODY_LIMIT_BYTES ? '' : `At most ${limit} bytes.`,
  ].filter(Boolean);
  return html`<h4>Request body</h4>
${remarks.length === 0 ? null : html`<p>${sentence(remarks.join(' '), site)}</p>`}
${fieldList(fields, site, { marksRequired: true })}`;
}

function answerFields(operation: Operation, site: Site): Html | null {
  const fields = fieldsOf(operation.success.schema as JsonSchema, RESOURCE_HOMES);
  if (fields.length === 0) return null;
  return html`<details class="drawer"><summary>Fields of the answer <span class="count">${fields.length}</span></summary>
${fieldList(fields, site, { marksRequired: false })}</details>`;
}

function errorList(operation: Operation, site: Site): Html {
  const codes = errorsOf(operation).toSorted((a, b) => ERRORS[a].status - ERRORS[b].status);
  const byStatus = Map.groupBy(codes, (code) => ERRORS[code].status);
  return html`<details class="drawer"><summary>Errors <span class="count">${codes.length}</span></summary>
<dl class="error-list">${[...byStatus].map(
    ([status, group]) =>
      html`<div><dt>${statusBadge(status)}</dt><dd>${group.map((code) => html`${errorLink(code, site)} `)}</dd></div>`,
  )}</dl></details>`;
}
