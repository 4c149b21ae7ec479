import { eventLoopSlices, mapSteps } from '../../concurrency/time-slices.ts';
import type { Queryable } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { type DeliveryDetail, findDelivery } from '../delivery-queue/delivery-log.ts';
import type { SecretEncryption } from '../endpoints/secret-encryption.ts';
import { dispatchId } from '../sending/dispatch-id.ts';
import { webhookHeaders } from '../sending/webhook-headers.ts';
import { readSigningSecrets, recomputeSignature, type SignatureCheck } from './signature-check.ts';

/** One attempt as its page shows it. */
export type ShownAttempt = {
  /** Which attempt it was since the delivery was made or queued again, from 1. */
  attempt: number | null;
  dispatchId: string | null;
  isSuccess: boolean;
  url: string | null;
  startedAt: Date | null;
  endedAt: Date;
  durationMs: number | null;
  responseCode: number | null;
  responseBody: string | null;
  error: string | null;
  /** The headers as they were sent, if the signature can be computed again; else without it. */
  headers: Record<string, string>;
  signature: SignatureCheck;
};

export type DeliveryPage = {
  integrationId: string;
  delivery: DeliveryDetail;
  finishedAt: Date | null;
  event: { id: string; type: string; objectId: string | null; createdAt: Date; body: string };
  /** Every attempt that failed and the last one, newest first. */
  attempts: ShownAttempt[];
};

/** Beyond these, older attempts of a delivery that was replayed again and again are not shown. */
const ATTEMPTS_SHOWN = 100;

type AttemptRow = Omit<ShownAttempt, 'dispatchId' | 'isSuccess' | 'headers' | 'signature'> & {
  dispatch: number | null;
};

/** Finds a delivery of these integrations by its own id, or by the id that any of its attempts carried. */
export async function readDealerDelivery(
  db: Queryable,
  encryption: SecretEncryption,
  integrationIds: readonly string[],
  deliveryOrDispatchId: string,
): Promise<DeliveryPage | null> {
  for (const integrationId of integrationIds) {
    const delivery = await findDelivery(db, integrationId, deliveryOrDispatchId);
    if (delivery !== null) return await readPage(db, encryption, integrationId, delivery);
  }
  return null;
}

async function readPage(
  db: Queryable,
  encryption: SecretEncryption,
  integrationId: string,
  delivery: DeliveryDetail,
): Promise<DeliveryPage | null> {
  const [row] = await db.query<DeliveryPage['event'] & LastAttempt & { finishedAt: Date | null }>(sql`
    select e.id, e.type, e.object_id as "objectId", e.created_at as "createdAt", e.body, d.finished_at as "finishedAt",
      d.last_attempt as attempt, d.last_dispatch as dispatch, d.last_url as url, d.last_started_at as "startedAt",
      d.last_attempt_at as "endedAt", d.last_duration_ms as "durationMs", d.last_response_code as "responseCode",
      d.last_response_body as "responseBody", d.last_error as error
    from deliveries d join events e on e.integration_id = d.integration_id and e.id = d.event_id
    where d.integration_id = ${integrationId} and d.id = ${delivery.id}`);
  // It was deleted a moment ago.
  if (row === undefined) return null;
  const { id, type, objectId, createdAt, body, finishedAt, ...last } = row;
  const failed = await db.query<AttemptRow>(sql`
    select attempt, dispatch, url, started_at as "startedAt", ended_at as "endedAt", duration_ms as "durationMs",
      response_code as "responseCode", response_body as "responseBody", error
    from delivery_attempts where integration_id = ${integrationId} and delivery_id = ${delivery.id}
    order by dispatch desc limit ${ATTEMPTS_SHOWN}`);
  const secrets = await readSigningSecrets(db, encryption, integrationId);
  const event = { id, type, objectId, createdAt, body };
  const show = (attempt: AttemptRow): ShownAttempt => {
    const { dispatch, ...shown } = attempt;
    const signature = recomputeSignature(secrets, attempt.startedAt, body);
    const sent = { eventId: id, type, deliveryId: delivery.id, dispatch: dispatch ?? 0, attempt: attempt.attempt ?? 1 };
    const isKnown = dispatch !== null && attempt.attempt !== null;
    const { 'X-SVC-Signature': signed, ...others } = webhookHeaders(sent, signature.header ?? '');
    return {
      ...shown,
      dispatchId: dispatch === null ? null : dispatchId(delivery.id, dispatch),
      isSuccess: isSuccess(attempt),
      headers: !isKnown ? {} : signature.header === null ? others : { ...others, 'X-SVC-Signature': signed },
      signature,
    };
  };
  // A hundred signatures of a large event with five secrets take a second.
  const attempts = await eventLoopSlices.run(integrationId, mapSteps(withLast(failed, last), show));
  return { integrationId, delivery, finishedAt, event, attempts };
}

type LastAttempt = Omit<AttemptRow, 'endedAt'> & { endedAt: Date | null };

/** An attempt that failed has a row of its own; one that succeeded, and one from before there were rows, has none. */
function withLast(failed: AttemptRow[], { endedAt, ...last }: LastAttempt): AttemptRow[] {
  if (endedAt === null) return failed;
  const hasRow = failed.some(({ dispatch }) => dispatch !== null && dispatch === last.dispatch);
  return hasRow ? failed : [{ ...last, endedAt }, ...failed];
}

function isSuccess({ responseCode, error }: AttemptRow): boolean {
  return error === null && responseCode !== null && responseCode >= 200 && responseCode < 300;
}
