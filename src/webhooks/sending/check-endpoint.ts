import { TEST_EVENT } from '../../contract/event-types.ts';
import type { Queryable } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../ids/new-id.ts';
import type { EndpointIds } from '../endpoints/endpoint-ids.ts';
import { readEndpoint } from '../endpoints/read-endpoint.ts';
import type { SecretEncryption } from '../endpoints/secret-encryption.ts';
import { envelope } from '../outbox.ts';
import type { AttemptResult, Sender } from './send.ts';
import { signAndSend } from './sign-and-send.ts';

/** How an endpoint answered a check. */
export type EndpointCheck = AttemptResult & { url: string; durationMs: number };

/**
 * Posts a signed test request to an endpoint at once, past the queue, and says how it answered. Nothing is recorded: neither
 * an event nor a delivery, and the endpoint's health stays as it is. Null if the endpoint has no URL.
 */
export async function checkEndpoint(
  db: Queryable,
  { sender, encryption }: { sender: Sender; encryption: SecretEncryption },
  { integrationId, organizationId }: EndpointIds,
  now: Date | null,
): Promise<EndpointCheck | null> {
  const endpoint = await readEndpoint(db, integrationId);
  if (endpoint === null || endpoint.url === null) return null;
  const [eventId, at] = [newId('event'), now ?? new Date()];
  const body = envelope(eventId, endpoint, {
    type: TEST_EVENT,
    object: { id: integrationId, object: 'integration', message: 'This request checks your webhook URL.' },
    previous: undefined,
    createdAt: at,
    isSuppressed: false,
  });
  const { url } = endpoint;
  const startedAt = performance.now();
  const result = await signAndSend(
    sender,
    encryption,
    {
      integrationId,
      organizationId,
      id: newId('delivery'),
      ctid: '',
      eventId,
      type: TEST_EVENT,
      body,
      url,
      secrets: await readCiphertexts(db, integrationId),
      attempts: 0,
      dispatches: 0,
      takeovers: 0,
      leaseToken: 0,
    },
    at,
  );
  return { ...result, url, durationMs: Math.round(performance.now() - startedAt) };
}

async function readCiphertexts(db: Queryable, integrationId: string): Promise<string | null> {
  const [row] = await db.query<{ secrets: string | null }>(sql`
    select string_agg(ciphertext, ' ' order by id desc) as secrets from webhook_secrets
    where integration_id = ${integrationId} and (expires_at is null or expires_at > clock_timestamp())`);
  return row?.secrets ?? null;
}
