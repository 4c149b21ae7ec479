import type { Operation } from '../../contract/operations/operation.ts';
import { type Html, html } from './markup/html.ts';
import type { ContentsEntry, Site } from './page.ts';

/** A part of a page, with its entry in the menu. */
export type Chapter = { id: string; eyebrow?: string; title: string; body: Html; entries?: readonly ContentsEntry[] };

export function contentsEntry({ id, title, entries }: Chapter): ContentsEntry {
  return { id, label: title, ...(entries === undefined ? {} : { entries }) };
}

export function chapterSection({ id, eyebrow, title, body }: Chapter): Html {
  return html`<section class="chapter" id="${id}">
${eyebrow === undefined ? null : html`<p class="eyebrow">${eyebrow}</p>`}
<h2>${title}</h2>
${body}
</section>
`;
}

export function endpointLink(operation: Operation, site: Site): Html {
  return html`<a class="code-link" href="${site.basePath}/docs/api#${operation.id}"><code>${operation.method}&nbsp;${operation.path}</code></a>`;
}

export function endpointLinks(operations: readonly Operation[], site: Site): Html {
  return html`${operations.map((operation, index) => html`${index === 0 ? '' : ', '}${endpointLink(operation, site)}`)}`;
}
