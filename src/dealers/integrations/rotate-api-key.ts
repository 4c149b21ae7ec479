import type { Actor } from '../../audit/actor.ts';
import type { Database, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { hashApiKey, hintOf, newApiKey, refuseTakenKey } from './api-keys.ts';
import { changeSetting } from './change-setting.ts';

/** Rotates an API key: from the next request on, the old one is unknown. Null if there is no such integration. */
export async function rotateApiKey(
  db: Database | Transaction,
  actor: Actor,
  integrationId: string,
): Promise<string | null> {
  const apiKey = newApiKey();
  return (await setApiKey(db, actor, integrationId, apiKey)) ? apiKey : null;
}

/** Sets the API key of an integration to one that the operator chose. */
export async function setApiKey(
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
