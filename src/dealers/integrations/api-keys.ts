import { hash } from 'node:crypto';
import { DomainError } from '../../contract/domain-error.ts';
import { sqlState, UNIQUE_VIOLATION } from '../../db/database.ts';
import { randomBase62 } from '../../ids/new-id.ts';

/**
 * An API key is `svc_` and 32 base62 characters, 190 random bits. Only its SHA-256 is ever stored. A key is neither a test
 * key nor a live one: its integration is in test mode or not (`is_test_mode`).
 */
const KEY_PATTERN = /^svc_[A-Za-z0-9]{32}$/;
const HINT_LENGTH = 8;

export function newApiKey(): string {
  return `svc_${randomBase62(32)}`;
}

export function isApiKey(text: string): boolean {
  return KEY_PATTERN.test(text);
}

/** A fast hash is enough here: unlike a password, a random key can't be guessed from a list. */
export function hashApiKey(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

export function hintOf(key: string): string {
  return `${key.slice(0, HINT_LENGTH)}…`;
}

/**
 * Turns the error of a statement that stores a key's hash into a refusal, if another integration already has the key.
 */
export function refuseTakenKey(error: unknown): never {
  if (sqlState(error) !== UNIQUE_VIOLATION) throw error;
  throw new DomainError('key_taken', 'That API key belongs to another integration.', 'api_key');
}
