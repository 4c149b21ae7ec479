import { type Command, InvalidArgumentError } from 'commander';
import { DealerError } from '../../dealers/dealer-error.ts';
import {
  type DeliverySummary,
  listDeliveries,
  setUrl,
  setWebhooksEnabled,
  subscribe,
} from '../../webhooks/endpoints.ts';
import { createGuard } from '../../webhooks/guard.ts';
import { replayDelivery } from '../../webhooks/replay.ts';
import { createSealedBox } from '../../webhooks/sealed-box.ts';
import { GRACE_DEFAULT_HOURS, GRACE_MAX_HOURS, rotateSecret } from '../../webhooks/secrets.ts';
import { table } from '../plain-text.ts';
import type { Shell } from '../shell.ts';

const DELIVERIES_DEFAULT = 50;
const DELIVERIES_MAX = 1_000;

const EXAMPLES = `
Examples:
  $ npm run -s crownwheel -- webhooks set-url int_… https://shop.example/webhooks
  $ npm run -s crownwheel -- webhooks rotate-secret int_… --grace-hours 48
  $ npm run -s crownwheel -- webhooks subscribe int_… 'listing.*' order.fulfilled
  $ npm run -s crownwheel -- webhooks deliveries int_…
  $ npm run -s crownwheel -- webhooks replay int_… dlv_…`;

/** Where an integration's webhooks go, how they are signed, and what became of them. */
export function addWebhooks(program: Command, shell: Shell): void {
  const noun = program
    .command('webhooks')
    .description("an integration's webhook receiver")
    .addHelpText('after', EXAMPLES);

  const set = noun
    .command('set-url')
    .description('set where webhooks go; the first time, the signing secret is made and shown this once')
    .argument('<integration>', 'id, int_…')
    .argument('<url>', 'an https URL, or "none" to take it away: what waits is then held')
    .addHelpText(
      'after',
      '\nExample:\n  $ npm run -s crownwheel -- webhooks set-url int_… https://shop.example/webhooks',
    );
  shell.run(set, async (integrationId: string, text: string) =>
    shell.withChannel(async ({ context, config }) => {
      const url = text === 'none' ? null : text;
      const tools = { guard: createGuard(config.isPrivateWebhookAllowed), box: createSealedBox(config.secretKeys) };
      const { secret } = (await setUrl(context.db, tools, integrationId, url)) ?? missing(integrationId);
      const lines = [url === null ? 'Webhooks go nowhere now.' : `Webhooks go to ${url} now.`];
      if (secret !== null) lines.push(`Signing secret, shown this once: ${secret}`);
      return { json: { object: 'webhook', integration_id: integrationId, url, secret }, text: lines.join('\n') };
    }),
  );

  const rotate = noun
    .command('rotate-secret')
    .description('make a new signing secret; the old one signs along for a while')
    .argument('<integration>', 'id, int_…')
    .option('--grace-hours <hours>', `0 to ${GRACE_MAX_HOURS}`, wholeNumber(0, GRACE_MAX_HOURS), GRACE_DEFAULT_HOURS)
    .addHelpText('after', '\nExample:\n  $ npm run -s crownwheel -- webhooks rotate-secret int_… --grace-hours 0');
  shell.run(rotate, async (integrationId: string, { graceHours }: { graceHours: number }) =>
    shell.withChannel(async ({ context, config }) => {
      const box = createSealedBox(config.secretKeys);
      const secret = (await rotateSecret(context.db, box, integrationId, graceHours, null)) ?? missing(integrationId);
      return {
        json: { object: 'webhook_secret', integration_id: integrationId, secret, grace_hours: graceHours },
        text: `Signing secret, shown this once: ${secret}\nThe old one signs along for ${graceHours} hours.`,
      };
    }),
  );

  const choose = noun
    .command('subscribe')
    .description('choose the events that are sent; "*" is all')
    .argument('<integration>', 'id, int_…')
    .argument('<names...>', 'event names, or wildcards such as "listing.*"')
    .addHelpText('after', "\nExample:\n  $ npm run -s crownwheel -- webhooks subscribe int_… '*'");
  shell.run(choose, async (integrationId: string, names: string[]) =>
    shell.withDatabase(async (db) => {
      if (!(await subscribe(db, integrationId, names))) missing(integrationId);
      return {
        json: { object: 'webhook', integration_id: integrationId, subscribed_events: names },
        text: `Subscribed: ${names.join(', ')}`,
      };
    }),
  );

  for (const [verb, isEnabled] of [
    ['enable', true],
    ['disable', false],
  ] as const) {
    const command = noun
      .command(verb)
      .description(
        isEnabled ? 'send again; what was held is due at once' : 'send nothing; what comes meanwhile is held',
      )
      .argument('<integration>', 'id, int_…')
      .addHelpText('after', `\nExample:\n  $ npm run -s crownwheel -- webhooks ${verb} int_…`);
    shell.run(command, async (integrationId: string) =>
      shell.withDatabase(async (db) => {
        if (!(await setWebhooksEnabled(db, integrationId, isEnabled))) missing(integrationId);
        return {
          json: { object: 'webhook', integration_id: integrationId, is_enabled: isEnabled },
          text: `Webhooks of ${integrationId} are ${isEnabled ? 'on' : 'off'} now.`,
        };
      }),
    );
  }

  const list = noun
    .command('deliveries')
    .description('show the newest deliveries')
    .argument('<integration>', 'id, int_…')
    .option('--limit <n>', `1 to ${DELIVERIES_MAX}`, wholeNumber(1, DELIVERIES_MAX), DELIVERIES_DEFAULT)
    .addHelpText('after', '\nExample:\n  $ npm run -s crownwheel -- webhooks deliveries int_… --json');
  shell.run(list, async (integrationId: string, { limit }: { limit: number }) =>
    shell.withDatabase(async (db) => {
      const deliveries = await listDeliveries(db, integrationId, limit);
      return { json: { object: 'list', data: deliveries.map(deliveryJson) }, text: deliveriesText(deliveries) };
    }),
  );

  const replay = noun
    .command('replay')
    .description('send one delivery again, with a fresh attempt counter')
    .argument('<integration>', 'id, int_…')
    .argument('<delivery>', 'id, dlv_…')
    .addHelpText('after', '\nExample:\n  $ npm run -s crownwheel -- webhooks replay int_… dlv_…');
  shell.run(replay, async (integrationId: string, deliveryId: string) =>
    shell.withDatabase(async (db) => {
      if (!(await replayDelivery(db, integrationId, deliveryId, null))) {
        throw new DealerError(
          'not_found',
          `There is no finished or failed delivery ${deliveryId} of ${integrationId}.`,
        );
      }
      return {
        json: { object: 'delivery', id: deliveryId, status: 'pending' },
        text: `${deliveryId} is queued again.`,
      };
    }),
  );
}

/** Reads a number option, or says what it should have been. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}

export function missing(integrationId: string): never {
  throw new DealerError('not_found', `There is no integration ${integrationId}.`);
}

function deliveryJson(delivery: DeliverySummary): Record<string, unknown> {
  return {
    id: delivery.id,
    event_id: delivery.eventId,
    type: delivery.type,
    status: delivery.status,
    attempts: delivery.attempts,
    last_response_code: delivery.lastResponseCode,
    last_error: delivery.lastError,
    next_attempt_at: delivery.dueAt?.toISOString() ?? null,
    created_at: delivery.createdAt.toISOString(),
  };
}

function deliveriesText(deliveries: DeliverySummary[]): string {
  if (deliveries.length === 0) return 'No deliveries yet.';
  return table(
    ['DELIVERY', 'EVENT', 'STATUS', 'ATTEMPTS', 'CODE', 'NEXT ATTEMPT', 'ERROR'],
    deliveries.map((delivery) => [
      delivery.id,
      delivery.type,
      delivery.status,
      delivery.attempts,
      delivery.lastResponseCode,
      delivery.dueAt?.toISOString() ?? null,
      delivery.lastError,
    ]),
  );
}
