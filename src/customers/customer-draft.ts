import { type CountryCode, isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { CompactJson } from '../contract/compact-json.ts';
import { DomainError } from '../contract/domain-error.ts';
import { METADATA_LIMIT_BYTES } from '../contract/limits.ts';
import type { Address } from '../contract/resources/common.ts';
import { type AddressInput, type CustomerInput, textOrNull } from '../contract/resources/customer.ts';
import { normalized } from '../text/normalized.ts';

/**
 * A customer as the client described it, checked and in the form in which it is stored. Undefined means that the client
 * did not send it.
 */
export type CustomerDraft = {
  externalId: string | null | undefined;
  email: string | null | undefined;
  /** How it is compared. Made once for each draft, since it takes time: a thousand long emails with accents took 30 ms. */
  emailKey: string | null | undefined;
  /** E.164. */
  phone: string | null | undefined;
  firstName: string | null | undefined;
  lastName: string | null | undefined;
  company: string | null | undefined;
  address: Address | null | undefined;
};

const ASCII = /^[ -~]*$/;

/**
 * Checks what a schema can't: that the draft identifies somebody, that the phone number is valid, that the metadata is
 * not too large.
 */
export function draftCustomer(input: CustomerInput, country: string | null, path: string): CustomerDraft {
  const externalId = textOrNull(input.external_id);
  const email = textOrNull(input.email);
  const phone = textOrNull(input.phone);
  if (externalId == null && email == null && phone == null) {
    throw new DomainError(
      'invalid_input',
      `${path === '' ? 'The customer' : path.slice(0, -1)} needs at least one of external_id, email and phone.`,
      `${path}external_id`,
    );
  }
  assertMetadata(input.metadata, `${path}metadata`);
  return {
    externalId,
    email,
    emailKey: email == null ? email : emailKey(email),
    phone: phone == null ? phone : possiblePhone(phone, country, `${path}phone`),
    firstName: textOrNull(input.first_name),
    lastName: textOrNull(input.last_name),
    company: textOrNull(input.company),
    address: input.address == null ? input.address : addressOf(input.address),
  };
}

/** How emails are compared: by Unicode's case folding, so that ß is ss and a final sigma is a sigma. */
export function emailKey(email: string): string {
  const text = normalized(email, 'NFC');
  // Nearly every email there is.
  if (ASCII.test(text)) return text.toLowerCase();
  // Through upper case, where letters with several lower cases meet; but the dotless i is no i.
  const folded = text.split('ı').map((piece) => piece.toLowerCase().toUpperCase().toLowerCase());
  return normalized(folded.join('ı').replaceAll('ς', 'σ'), 'NFC');
}

/** The phone as E.164, or null if nobody could call it. A number must be possible, not proven to exist. */
export function parsePhone(text: string, country: string | null): string | null {
  const defaultCountry = country !== null && isSupportedCountry(country) ? (country as CountryCode) : undefined;
  const number = parsePhoneNumberFromString(text, {
    ...(defaultCountry === undefined ? {} : { defaultCountry }),
    extract: false,
  });
  return number?.isPossible() ? number.number : null;
}

/** Whether an email or phone, as an order has it, is anybody's: "n/a" is not, and neither is a phone without its country. */
export function identifiesSomebody(contact: string): boolean {
  return contact.includes('@') || parsePhone(contact, null) !== null;
}

export function assertMetadata(metadata: object | null | undefined, field: string): void {
  if (metadata == null) return;
  const text = metadata instanceof CompactJson ? metadata.text : JSON.stringify(metadata);
  const size = text === null ? Number.POSITIVE_INFINITY : Buffer.byteLength(text);
  if (size <= METADATA_LIMIT_BYTES) return;
  const bytes = text === null ? `more than ${METADATA_LIMIT_BYTES}` : size;
  throw new DomainError(
    'invalid_input',
    `${field} has ${bytes} bytes as compact JSON; at most ${METADATA_LIMIT_BYTES} are allowed.`,
    field,
  );
}

/** Every field by name, in the order in which clients read them. */
export function addressOf(input: AddressInput): Address {
  return {
    line1: textOrNull(input.line1) ?? null,
    line2: textOrNull(input.line2) ?? null,
    city: textOrNull(input.city) ?? null,
    state: textOrNull(input.state) ?? null,
    postal_code: textOrNull(input.postal_code) ?? null,
    country: textOrNull(input.country)?.toUpperCase() ?? null,
  };
}

function possiblePhone(text: string, country: string | null, field: string): string {
  const phone = parsePhone(text, country);
  if (phone !== null) return phone;
  throw new DomainError(
    'invalid_input',
    `${field} must be a possible phone number, such as +41 22 730 00 00; without a country code the dealer’s country is assumed.`,
    field,
  );
}
