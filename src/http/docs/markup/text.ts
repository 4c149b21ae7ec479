import { ERROR_CODES } from '../../../contract/errors.ts';
import type { Site } from '../page.ts';
import { type Html, html } from './html.ts';

/** Code up to this length stays on one line, which a narrow screen still holds. */
const UNBROKEN_LENGTH_LIMIT = 28;

/** The contract's sentences: `code` in backticks is set as code, and the name of an error leads to its explanation. */
export function sentence(text: string, site: Site): Html {
  const parts = text.split('`').map((part, index) => (index % 2 === 0 ? part : inlineCode(part, site)));
  return html`${parts}`;
}

export function errorLink(code: string, site: Site): Html {
  return html`<a class="code-link" href="${site.basePath}/docs/api/errors#${code}"><code>${code}</code></a>`;
}

export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
}

function inlineCode(text: string, site: Site): Html {
  const isError = ERROR_CODES.some((code) => code === text);
  if (isError) return errorLink(text, site);
  return text.length > UNBROKEN_LENGTH_LIMIT ? html`<code class="long">${text}</code>` : html`<code>${text}</code>`;
}
