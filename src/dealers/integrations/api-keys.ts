import { hash } from 'node:crypto';
import type { Actor } from '../../audit/actor.ts';
import { DomainError } from '../../contract/domain-error.ts';
import { type Database, sqlState, type Transaction, UNIQUE_VIOLATION } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { randomBase62 } from '../../ids/new-id.ts';
import { changeSetting } from './change-setting.ts';

/** An API key is `svc_` and 32 base62 characters, 190 random bits. Only its SHA-256 is ever stored. */
const KEY_PATTERN = /^svc_[A-Za-z0-9]{32}$/;
const HINT_LENGTH = 8;

export function newApiKey(): string {
  return `svc_${randomBase62(32)}`;
}

export function isApiKey(text: string): boolean {
  return KEY_PATTERN.test(text);
}

/** A fast hash is right here: a key is not a password, it can't be guessed from a list. */
export function hashApiKey(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

export function hintOf(key: string): string {
  return `${key.slice(0, HINT_LENGTH)}…`;
}

/** Rotates an API key: from the next request on, the old one is unknown. Null if there is no such integration. */
export async function regenerateKey(
  db: Database | Transaction,
  actor: Actor,
  integrationId: string,
): Promise<string | null> {
  const apiKey = newApiKey();
  return (await setKey(db, actor, integrationId, apiKey)) ? apiKey : null;
}

/** Gives an integration a key that the operator chose. */
export async function setKey(
  db: Database | Transaction,
  actor: Actor,
  integrationId: string,
  apiKey: string,
): Promise<boolean> {
  const keyHint = hintOf(apiKey);
  const assignment = sql`key_hash = ${hashApiKey(apiKey)}, key_hint = ${keyHint}`;
  const change = { action: 'integration.key_regenerated', assignment, values: { keyHint } } as const;
  return await changeSetting(db, actor, integrationId, change).catch(refuseTakenKey);
}

/** For the error of a statement that stores a key's hash. */
export function refuseTakenKey(error: unknown): never {
  if (sqlState(error) !== UNIQUE_VIOLATION) throw error;
  throw new DomainError('key_taken', 'That API key belongs to another integration.', 'api_key');
}
