import { hash } from 'node:crypto';
import { randomBase62 } from '../../ids/new-id.ts';

/** An API key is `svc_` and 32 base62 characters, 190 bits of chance. Only its SHA-256 is ever stored. */
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
