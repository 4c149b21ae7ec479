import { DomainError } from '../../../contract/domain-error.ts';
import { isStorable } from '../../json/unstorable.ts';

/**
 * Refuses texts that PostgreSQL can neither store nor compare: with a NUL, or with half of a surrogate pair. Checked once
 * for all operations, so that no query meets one and answers with a fault. Bodies are checked when they are parsed
 * (`readJsonBody`), and only where an escape spells such a character.
 */
export function assertStorableTexts(given: unknown): void {
  for (const [field, value] of Object.entries(given ?? {})) {
    if (typeof value !== 'string' || isStorable(value)) continue;
    throw new DomainError('invalid_input', 'This text has characters that can’t be stored.', field);
  }
}
