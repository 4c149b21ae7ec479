import { EMAIL_LENGTH_LIMIT, PASSWORD_MAX_LENGTH, PASSWORD_MIN_LENGTH } from '../contract/dashboard/limits.ts';
import { DomainError } from '../contract/domain-error.ts';
import { type IdKind, isId } from '../contract/ids.ts';
import { RATE_LIMIT_OVERRIDE_MAX, STORAGE_QUOTA_MAX_MB_PER_DAY, STRING_LENGTH_LIMIT } from '../contract/limits.ts';
import { isCurrency } from './rates/currencies.ts';

/**
 * Rules for what people type about a dealer, a user or an integration. Each function returns the value to store, or
 * throws.
 */
/** The cost of the most expensive operation. With a lower limit, that operation could never pass. */
export const RATE_LIMIT_OVERRIDE_MIN = 10;

const TIME_ZONE_LENGTH_LIMIT = 64;

/** The sign-in library accepts these addresses, too. With one that it refuses, nobody could sign in. */
const EMAIL = /^(?!\.)(?!.*\.\.)[A-Za-z0-9_'+\-.]*[A-Za-z0-9_+-]@(?:[A-Za-z0-9][A-Za-z0-9-]*\.)+[A-Za-z]{2,}$/;

export function checkedName(text: string): string {
  const name = text.trim();
  if (name === '' || name.length > STRING_LENGTH_LIMIT) {
    throw refused(`A name has 1 to ${STRING_LENGTH_LIMIT} characters.`, 'name');
  }
  // PostgreSQL stores no NUL, and a line break would forge lines in lists and logs.
  if (/\p{Cc}/u.test(name) || !name.isWellFormed()) throw refused('A name has no control characters.', 'name');
  return name;
}

export function checkedEmail(text: string): string {
  const email = text.trim().toLowerCase();
  if (email.length > EMAIL_LENGTH_LIMIT || !EMAIL.test(email)) {
    throw refused(`${JSON.stringify(text)} is not an email address.`, 'email');
  }
  return email;
}

export function checkedPassword(password: string): string {
  if (password.length < PASSWORD_MIN_LENGTH || password.length > PASSWORD_MAX_LENGTH) {
    throw refused(`A password has ${PASSWORD_MIN_LENGTH} to ${PASSWORD_MAX_LENGTH} characters.`, 'password');
  }
  return password;
}

export function checkedCurrency(text: string, field = 'currency'): string {
  const currency = text.trim().toUpperCase();
  if (!isCurrency(currency)) {
    throw refused(`${JSON.stringify(text)} is not a currency of ISO 4217, such as USD, EUR or CHF.`, field);
  }
  return currency;
}

/** A time zone of the IANA database, by the name that this machine's Intl knows it by. */
export function checkedTimeZone(text: string): string {
  // Intl also takes offsets such as +02:00, which know no summer time.
  const isName = /^[A-Za-z]/.test(text) && text.length <= TIME_ZONE_LENGTH_LIMIT;
  try {
    if (isName) return new Intl.DateTimeFormat('en-US', { timeZone: text }).resolvedOptions().timeZone;
  } catch {
    // Intl does not know it.
  }
  throw refused(`${JSON.stringify(text.slice(0, 50))} is not a time zone, such as Europe/Zurich.`, 'time_zone');
}

export function checkedRateLimit(limit: number): number {
  if (!Number.isInteger(limit) || limit < RATE_LIMIT_OVERRIDE_MIN || limit > RATE_LIMIT_OVERRIDE_MAX) {
    throw refused(
      `A rate limit is a whole number from ${RATE_LIMIT_OVERRIDE_MIN} to ${RATE_LIMIT_OVERRIDE_MAX}.`,
      'rate_limit',
    );
  }
  return limit;
}

export function checkedStorageQuota(quotaMb: number): number {
  if (!Number.isInteger(quotaMb) || quotaMb < 1 || quotaMb > STORAGE_QUOTA_MAX_MB_PER_DAY) {
    throw refused(
      `A storage quota is a whole number of megabytes a day from 1 to ${STORAGE_QUOTA_MAX_MB_PER_DAY}.`,
      'storage_quota',
    );
  }
  return quotaMb;
}

/** A malformed id is answered like an unknown one. */
export function checkedId(kind: IdKind, text: string): string {
  if (!isId(kind, text)) throw notFound(kind, text);
  return text;
}

export function notFound(kind: IdKind, id: string): DomainError {
  return new DomainError('not_found', `There is no ${kind} ${JSON.stringify(id)}.`, kind);
}

function refused(message: string, field: string): DomainError {
  return new DomainError('invalid_input', message, field);
}
