import type { Operation } from '../../../contract/operations/operation.ts';
import { type Html, html } from './html.ts';
import { counted } from './text.ts';

/** The colour of a status says which class of error it is; the number says the rest. */
export function statusBadge(status: number): Html {
  return html`<span class="status ${statusTone(status)}">${status}</span>`;
}

export function methodBadge(method: Operation['method']): Html {
  return html`<span class="method ${method.toLowerCase()}">${method}</span>`;
}

export function costText(operation: Operation): string {
  return operation.isOpen ? 'free' : counted(operation.cost, 'token');
}

function statusTone(status: number): string {
  if (status < 400) return 'fine';
  if (status >= 500) return 'server';
  switch (status) {
    case 401:
    case 403:
      return 'access';
    case 404:
      return 'absent';
    case 409:
      return 'conflict';
    case 429:
      return 'limit';
    default:
      return 'input';
  }
}
