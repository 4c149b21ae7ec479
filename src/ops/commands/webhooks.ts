import { type Command, InvalidArgumentError } from 'commander';
import type { Database } from '../../db/database.ts';
import { DealerError } from '../../dealers/dealer-error.ts';
import { notFound } from '../../dealers/input-rules.ts';
import { findIntegration } from '../../dealers/integrations.ts';
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
const ID_HELP = 'the integration, int_…';

const EXAMPLES = `
Examples:
  $ npm run -s crownwheel -- webhooks set-url int_… https://shop.example/webhooks
  $ npm run -s crownwheel -- webhooks rotate-secret int_… --grace-hours 48
  $ npm run -s crownwheel -- webhooks subscribe int_… 'listing.*' order.fulfilled
  $ npm run -s crownwheel -- webhooks deliveries int_…
  $ npm run -s crownwheel -- webhooks replay int_… dlv_…

Many at once are sent again by "replays".`;

/** Where an integration's webhooks go, how they are signed, and what became of them. */
export function addWebhooks(program: Command, shell: Shell): void {
  const noun = program
    .command('webhooks')
    .description("an integration's webhook receiver")
    .addHelpText('after', EXAMPLES);
  addSetUrl(noun, shell);
  addRotateSecret(noun, shell);
  addSubscribe(noun, shell);
  addSwitch(noun, shell, 'enable', 'send again; what was held is due at once');
  addSwitch(noun, shell, 'disable', 'send nothing; what comes meanwhile is held');
  addDeliveries(noun, shell);
  addReplay(noun, shell);
}

function addSetUrl(noun: Command, shell: Shell): void {
  const command = noun
    .command('set-url')
    .description('set where webhooks go; the first time, the signing secret is made and shown this once')
    .argument('<integration>', ID_HELP)
    .argument('<url>', 'an https URL, or "none" to take it away: what waits is then held')
    .addHelpText(
      'after',
      '\nExample:\n  $ npm run -s crownwheel -- webhooks set-url int_… https://shop.example/webhooks',
    );
  shell.run(command, async (integrationId: string, text: string) =>
    shell.withChannel(async ({ context, config }) => {
      const tools = { guard: createGuard(config.isPrivateWebhookAllowed), box: createSealedBox(config.secretKeys) };
      const set = await setUrl(context.db, tools, integrationId, text === 'none' ? null : text);
      if (set === null) throw notFound('integration', integrationId);
      const { url, secret } = set;
      const lines = [url === null ? 'Webhooks go nowhere now.' : `Webhooks go to ${url} now.`];
      if (secret !== null) lines.push(`Signing secret, shown this once: ${secret}`);
      return { json: { object: 'webhook', integration_id: integrationId, url, secret }, text: lines.join('\n') };
    }),
  );
}

function addRotateSecret(noun: Command, shell: Shell): void {
  const command = noun
    .command('rotate-secret')
    .description('make a new signing secret and show it, this once; the old one signs along for a while')
    .argument('<integration>', ID_HELP)
    .option('--grace-hours <hours>', `0 to ${GRACE_MAX_HOURS}`, wholeNumber(0, GRACE_MAX_HOURS), GRACE_DEFAULT_HOURS)
    .addHelpText('after', '\nExample:\n  $ npm run -s crownwheel -- webhooks rotate-secret int_… --grace-hours 0');
  shell.run(command, async (integrationId: string, { graceHours }: { graceHours: number }) =>
    shell.withChannel(async ({ context, config }) => {
      const secret = await rotateSecret(
        context.db,
        createSealedBox(config.secretKeys),
        integrationId,
        graceHours,
        context.now(),
      );
      if (secret === null) throw notFound('integration', integrationId);
      const fate = graceHours === 0 ? 'The old one signs no more.' : `The old one signs along for ${graceHours} hours.`;
      return {
        json: { object: 'webhook_secret', integration_id: integrationId, secret, grace_hours: graceHours },
        text: `Signing secret, shown this once: ${secret}\n${fate}`,
      };
    }),
  );
}

function addSubscribe(noun: Command, shell: Shell): void {
  const command = noun
    .command('subscribe')
    .description('choose the events that are sent; "*" is all')
    .argument('<integration>', ID_HELP)
    .argument('<names...>', 'event names, or wildcards such as "listing.*"')
    .addHelpText('after', "\nExample:\n  $ npm run -s crownwheel -- webhooks subscribe int_… '*'");
  shell.run(command, async (integrationId: string, names: string[]) =>
    shell.withDatabase(async (db) => {
      if (!(await subscribe(db, integrationId, names))) throw notFound('integration', integrationId);
      return {
        json: { object: 'webhook', integration_id: integrationId, subscribed_events: names },
        text: `Subscribed: ${names.join(', ')}`,
      };
    }),
  );
}

function addSwitch(noun: Command, shell: Shell, verb: 'enable' | 'disable', description: string): void {
  const isEnabled = verb === 'enable';
  const command = noun
    .command(verb)
    .description(description)
    .argument('<integration>', ID_HELP)
    .addHelpText('after', `\nExample:\n  $ npm run -s crownwheel -- webhooks ${verb} int_…`);
  shell.run(command, async (integrationId: string) =>
    shell.withDatabase(async (db) => {
      if (!(await setWebhooksEnabled(db, integrationId, isEnabled))) throw notFound('integration', integrationId);
      return {
        json: { object: 'webhook', integration_id: integrationId, is_enabled: isEnabled },
        text: `Webhooks of ${integrationId} are ${isEnabled ? 'on' : 'off'} now.`,
      };
    }),
  );
}

function addDeliveries(noun: Command, shell: Shell): void {
  const command = noun
    .command('deliveries')
    .description('show the newest deliveries')
    .argument('<integration>', ID_HELP)
    .option('--limit <n>', `1 to ${DELIVERIES_MAX}`, wholeNumber(1, DELIVERIES_MAX), DELIVERIES_DEFAULT)
    .addHelpText('after', '\nExample:\n  $ npm run -s crownwheel -- webhooks deliveries int_… --json');
  shell.run(command, async (integrationId: string, { limit }: { limit: number }) =>
    shell.withDatabase(async (db) => {
      await assertIntegration(db, integrationId);
      const deliveries = await listDeliveries(db, integrationId, limit);
      return { json: { object: 'list', data: deliveries.map(deliveryJson) }, text: deliveriesText(deliveries) };
    }),
  );
}

function addReplay(noun: Command, shell: Shell): void {
  const command = noun
    .command('replay')
    .description('send one delivery again, with a fresh attempt counter')
    .argument('<integration>', ID_HELP)
    .argument('<delivery>', 'the delivery, dlv_…')
    .addHelpText('after', '\nExample:\n  $ npm run -s crownwheel -- webhooks replay int_… dlv_…');
  shell.run(command, async (integrationId: string, deliveryId: string) =>
    shell.withDatabase(async (db) => {
      if (!(await replayDelivery(db, integrationId, deliveryId, null))) {
        const name = JSON.stringify(deliveryId);
        throw new DealerError('not_found', `There is no delivery ${name} of it that could be sent again now.`);
      }
      return {
        json: { object: 'delivery', id: deliveryId, status: 'pending' },
        text: `${deliveryId} is queued again.`,
      };
    }),
  );
}

export async function assertIntegration(db: Database, integrationId: string): Promise<void> {
  if ((await findIntegration(db, integrationId)) === null) throw notFound('integration', integrationId);
}

/** Reads a number option, or says what it should have been. */
function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}

function deliveryJson(delivery: DeliverySummary): Record<string, unknown> {
  return {
    object: 'delivery',
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
      delivery.dueAt?.toISOString(),
      delivery.lastError,
    ]),
  );
}
