import { Readable } from 'node:stream';
import { DomainError } from '../../../contract/domain-error.ts';
import { isStorable } from '../../json/unstorable.ts';

/**
 * Refuses texts that PostgreSQL can neither store nor compare: with a NUL, or with half of a surrogate pair. Checked once
 * for all operations, so that no query meets one and answers with a fault.
 */
export function assertStorableTexts(value: unknown, field?: string): void {
  if (typeof value === 'string') {
    if (isStorable(value)) return;
    throw new DomainError('invalid_input', 'This text has characters that can’t be stored.', field);
  }
  // An upload's body is the stream of its file.
  if (typeof value !== 'object' || value === null || value instanceof Readable) return;
  for (const [name, inner] of Object.entries(value)) {
    assertStorableTexts(name, field);
    assertStorableTexts(inner, field ?? (Array.isArray(value) ? undefined : name));
  }
}
