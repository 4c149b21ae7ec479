import type { ReactNode } from 'react';

/** A text of the contract, which marks code as Markdown does. */
export function withCode(text: string): ReactNode {
  return text.split('`').map((part, index) => (index % 2 === 0 ? part : <code key={part}>{part}</code>));
}
