import type { Command } from 'commander';
import { COMMAND_LINE } from '../../../audit/actor.ts';
import { commitAndWake } from '../../../channel/commit-and-wake.ts';
import { recordPings } from '../../../channel/record-test-events.ts';
import { DomainError } from '../../../contract/domain-error.ts';
import type { Database } from '../../../db/database.ts';
import {
  DELIVERY_STATUSES,
  type DeliveryDetail,
  type DeliveryStatus,
  type DeliverySummary,
  findDelivery,
  listDeliveries,
} from '../../../webhooks/delivery-queue/delivery-log.ts';
import { replayDelivery } from '../../../webhooks/delivery-queue/replay.ts';
import type { RecordedEvent } from '../../../webhooks/outbox.ts';
import { fields, table } from '../../plain-text.ts';
import type { Shell } from '../../shell.ts';
import { oneOrMore, wholeNumber } from '../option-values.ts';
import { endpointOf, joinLines, notSentNote, sendingJson } from './endpoint-text.ts';

const LIST_DEFAULT = 50;
const LIST_MAX = 1_000;
const DELIVERY_HELP = 'the delivery, dlv_…; you can also give any X-SVC-Delivery-Id from the log of the receiver';

export function addPing(noun: Command, shell: Shell, idHelp: string): void {
  const command = noun
    .command('ping')
    .description('send a test event, as POST /v1/test/webhook_ping does; it needs no subscription')
    .argument('<integration>', idHelp)
    .addHelpText('after', '\nExample:\n  $ npm run -s crownwheel -- webhooks ping int_…');
  shell.run(command, async (integrationId: string) =>
    shell.withChannel(async ({ context }) => {
      const state = await endpointOf(context.db, integrationId);
      // Held until later it would test nothing.
      if (!state.isSending) throw new DomainError('wrong_status', notSentNote(state));
      const { ping } = await commitAndWake(context, async (tx) => {
        const [ping] = (await recordPings(tx, context, integrationId, 1)) as [RecordedEvent];
        return { ping, touched: [integrationId] };
      });
      return {
        json: { object: 'webhook_ping', delivery_id: ping.deliveryId, event_id: ping.id },
        text: `${ping.deliveryId} is queued; "webhooks delivery ${integrationId} ${ping.deliveryId}" shows what becomes of it.`,
      };
    }),
  );
}

export function addDeliveries(noun: Command, shell: Shell, idHelp: string): void {
  const command = noun
    .command('deliveries')
    .description('list the newest deliveries')
    .argument('<integration>', idHelp)
    .option('--limit <n>', `1 to ${LIST_MAX}`, wholeNumber(1, LIST_MAX), LIST_DEFAULT)
    .option('--status <names>', `some of ${DELIVERY_STATUSES.join(', ')}`, oneOrMore(DELIVERY_STATUSES))
    .addHelpText(
      'after',
      '\nExample:\n  $ npm run -s crownwheel -- webhooks deliveries int_… --status failed,dead_letter --json',
    );
  type Options = { limit: number; status?: DeliveryStatus[] };
  shell.run(command, async (integrationId: string, { limit, status }: Options) =>
    shell.withDatabase(async (db) => {
      const state = await endpointOf(db, integrationId);
      const deliveries = await listDeliveries(db, integrationId, { limit, statuses: status ?? DELIVERY_STATUSES });
      return {
        json: { object: 'list', data: deliveries.map(summaryJson), ...sendingJson(state) },
        text: joinLines(listText(deliveries, status), notSentNote(state)),
      };
    }),
  );
}

export function addDelivery(noun: Command, shell: Shell, idHelp: string): void {
  const command = noun
    .command('delivery')
    .description('show one delivery with its last attempt and the response of the receiver')
    .argument('<integration>', idHelp)
    .argument('<delivery>', DELIVERY_HELP)
    .addHelpText('after', '\nExample:\n  $ npm run -s crownwheel -- webhooks delivery int_… dlv_…');
  shell.run(command, async (integrationId: string, id: string) =>
    shell.withDatabase(async (db) => {
      const state = await endpointOf(db, integrationId);
      const delivery = await deliveryOf(db, integrationId, id);
      return {
        json: { ...detailJson(delivery), ...sendingJson(state) },
        text: joinLines(detailText(delivery), notSentNote(state)),
      };
    }),
  );
}

export function addReplay(noun: Command, shell: Shell, idHelp: string): void {
  const command = noun
    .command('replay')
    .description('send one delivery again, with a fresh attempt counter')
    .argument('<integration>', idHelp)
    .argument('<delivery>', DELIVERY_HELP)
    .addHelpText('after', '\nExample:\n  $ npm run -s crownwheel -- webhooks replay int_… dlv_…');
  shell.run(command, async (integrationId: string, givenId: string) =>
    shell.withDatabase(async (db) => {
      const state = await endpointOf(db, integrationId);
      const { id } = await deliveryOf(db, integrationId, givenId);
      if (!(await replayDelivery(db, COMMAND_LINE, integrationId, id, null))) {
        const reason = whyNotNow(await deliveryOf(db, integrationId, id));
        throw new DomainError('wrong_status', joinLines(`${id} ${reason}`, notSentNote(state)));
      }
      return {
        json: { object: 'delivery', id, status: 'pending', ...sendingJson(state) },
        text: joinLines(`${id} is queued again.`, notSentNote(state)),
      };
    }),
  );
}

async function deliveryOf(db: Database, integrationId: string, id: string): Promise<DeliveryDetail> {
  const delivery = await findDelivery(db, integrationId, id);
  if (delivery !== null) return delivery;
  throw new DomainError('not_found', `There is no delivery ${JSON.stringify(id)} of this integration.`);
}

function whyNotNow({ status, isInFlight }: DeliverySummary): string {
  if (isInFlight) return 'is being sent right now.';
  if (status === 'held') return 'is held and sent as soon as webhooks are sent again.';
  return 'waits to be sent already.';
}

function summaryJson(delivery: DeliverySummary): Record<string, unknown> {
  return {
    object: 'delivery',
    id: delivery.id,
    event_id: delivery.eventId,
    type: delivery.type,
    status: delivery.status,
    is_in_flight: delivery.isInFlight,
    attempts: delivery.attempts,
    last_response_code: delivery.lastResponseCode,
    last_error: delivery.lastError,
    next_attempt_at: delivery.dueAt?.toISOString() ?? null,
    created_at: delivery.createdAt.toISOString(),
  };
}

function detailJson(delivery: DeliveryDetail): Record<string, unknown> {
  return {
    ...summaryJson(delivery),
    dispatches: delivery.dispatches,
    last_attempt_at: delivery.lastAttemptAt?.toISOString() ?? null,
    last_response_body: delivery.lastResponseBody,
  };
}

function listText(deliveries: DeliverySummary[], statuses: DeliveryStatus[] | undefined): string {
  if (deliveries.length === 0)
    return statuses === undefined ? 'No deliveries yet.' : `None is ${statuses.join(' or ')}.`;
  return table(
    ['DELIVERY', 'CREATED', 'EVENT', 'STATUS', 'ATTEMPTS', 'CODE', 'NEXT ATTEMPT', 'ERROR'],
    deliveries.map((delivery) => [
      delivery.id,
      delivery.createdAt.toISOString(),
      delivery.type,
      statusText(delivery),
      delivery.attempts,
      delivery.lastResponseCode,
      delivery.dueAt?.toISOString(),
      errorText(delivery),
    ]),
  );
}

function detailText(delivery: DeliveryDetail): string {
  const isQueuedAgain = delivery.attempts === 0 && delivery.lastAttemptAt !== null;
  return fields([
    ['delivery', delivery.id],
    ['event', `${delivery.eventId}, ${delivery.type}`],
    ['created', delivery.createdAt.toISOString()],
    ['status', statusText(delivery)],
    ['attempts', `${delivery.attempts}${isQueuedAgain ? ' since it was queued again' : ''}`],
    ['sent', delivery.dispatches === 1 ? 'once' : `${delivery.dispatches} times in all`],
    ['next attempt', delivery.dueAt?.toISOString()],
    ['last attempt', delivery.lastAttemptAt?.toISOString()],
    ['answer', delivery.lastResponseCode],
    ['error', errorText(delivery)],
    ['response', delivery.lastResponseBody],
  ]);
}

function errorText({ lastError, lastResponseCode: code }: DeliverySummary): string | null {
  const isRedirect = code !== null && code >= 300 && code < 400;
  return lastError ?? (isRedirect ? 'redirects are not followed' : null);
}

function statusText({ status, isInFlight }: DeliverySummary): string {
  return isInFlight ? `${status}, in flight` : status;
}
