/** Markup that is safe to send. Only this file makes it, so text can't become markup by accident. */
export type Html = { readonly markup: string };

type Part = Html | string | number | null | false | readonly Part[];

/** Escapes everything put in, except markup that this tag made itself. Null and false leave nothing behind. */
export function html(literals: TemplateStringsArray, ...parts: Part[]): Html {
  let markup = literals[0] ?? '';
  for (const [index, part] of parts.entries()) {
    markup += markupOf(part) + (literals[index + 1] ?? '');
  }
  return { markup };
}

export function join(parts: readonly Part[], separator: Part): Html {
  return { markup: parts.map(markupOf).join(markupOf(separator)) };
}

function markupOf(part: Part): string {
  if (part === null || part === false) return '';
  if (typeof part === 'string' || typeof part === 'number') return escapeHtml(String(part));
  if ('markup' in part) return part.markup;
  return part.map(markupOf).join('');
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
