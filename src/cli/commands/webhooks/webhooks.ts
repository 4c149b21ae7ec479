import type { Command } from 'commander';
import { COMMAND_LINE } from '../../../audit/actor.ts';
import { GRACE_MAX_HOURS } from '../../../contract/dashboard/limits.ts';
import { DomainError } from '../../../contract/domain-error.ts';
import { notFound } from '../../../dealers/input-rules.ts';
import { setUrl, setWebhooksEnabled, subscribe } from '../../../webhooks/endpoints/endpoint-settings.ts';
import { readSecrets } from '../../../webhooks/endpoints/endpoint-status.ts';
import { GRACE_DEFAULT_HOURS, rotateSigningSecret } from '../../../webhooks/endpoints/rotate-signing-secret.ts';
import { createSecretEncryption } from '../../../webhooks/endpoints/secret-encryption.ts';
import { createSsrfGuard } from '../../../webhooks/sending/ssrf-guard.ts';
import type { Shell } from '../../shell.ts';
import { wholeNumber } from '../option-values.ts';
import { endpointOf, joinLines, notSentNote, sendingJson } from './endpoint-text.ts';
import { assertKeysFit, FORCE_OPTION } from './keys-that-fit.ts';
import { addDeliveries, addDelivery, addPing, addReplay } from './webhook-deliveries.ts';
import { addShow } from './webhook-show.ts';

const ID_HELP = 'the integration, int_…';

const EXAMPLES = `
Examples:
  $ npm run -s crownwheel -- webhooks set-url int_… https://shop.example/webhooks
  $ npm run -s crownwheel -- webhooks rotate-secret int_… --grace-hours 48
  $ npm run -s crownwheel -- webhooks subscribe int_… 'listing.*' order.fulfilled
  $ npm run -s crownwheel -- webhooks show int_…
  $ npm run -s crownwheel -- webhooks ping int_…
  $ npm run -s crownwheel -- webhooks deliveries int_… --status failed,dead_letter
  $ npm run -s crownwheel -- webhooks delivery int_… dlv_…
  $ npm run -s crownwheel -- webhooks replay int_… dlv_…

To send many deliveries again, use "replays".`;

/** Where an integration's webhooks go, how they are signed, and what became of them. */
export function addWebhooks(program: Command, shell: Shell): void {
  const noun = program
    .command('webhooks')
    .description('manage the webhooks of an integration and its deliveries')
    .addHelpText('after', EXAMPLES);
  addSetUrl(noun, shell);
  addRotateSecret(noun, shell);
  addSubscribe(noun, shell);
  addSwitch(noun, shell, 'enable', 'turn webhooks on; held deliveries are sent at once');
  addSwitch(noun, shell, 'disable', 'turn webhooks off; new deliveries are held');
  addShow(noun, shell, ID_HELP);
  addPing(noun, shell, ID_HELP);
  addDeliveries(noun, shell, ID_HELP);
  addDelivery(noun, shell, ID_HELP);
  addReplay(noun, shell, ID_HELP);
}

function addSetUrl(noun: Command, shell: Shell): void {
  const command = noun
    .command('set-url')
    .description('set the URL for webhooks; the first URL also creates a signing secret, which is shown only once')
    .argument('<integration>', ID_HELP)
    .argument('<url>', 'an https URL, or "none" to remove it and hold pending deliveries')
    .option(...FORCE_OPTION)
    .addHelpText(
      'after',
      '\nExample:\n  $ npm run -s crownwheel -- webhooks set-url int_… https://shop.example/webhooks',
    );
  shell.run(command, async (integrationId: string, text: string, { force }: { force?: boolean }) =>
    shell.withChannel(async ({ context: { db }, config }) => {
      const { isPrivateWebhookAllowed, secretKeys } = config;
      const tools = { guard: createSsrfGuard(isPrivateWebhookAllowed), encryption: createSecretEncryption(secretKeys) };
      // Only the first URL creates a secret.
      const createsSecret = text !== 'none' && (await readSecrets(db, tools.encryption, integrationId)).length === 0;
      if (createsSecret && force !== true) await assertKeysFit(db, tools.encryption, integrationId);
      const set = await setUrl(db, COMMAND_LINE, tools, integrationId, text === 'none' ? null : text).catch(
        (error: unknown) => {
          throw isPrivateWebhookAllowed ? error : withAdvice(error, text);
        },
      );
      if (set === null) throw notFound('integration', integrationId);
      const { url, secret } = set;
      const state = await endpointOf(db, integrationId);
      return {
        json: { object: 'webhook', integration_id: integrationId, url, secret, ...sendingJson(state) },
        text: joinLines(
          state.isSending
            ? `Webhooks go to ${url} now.`
            : url === null
              ? 'The URL is removed.'
              : `The URL is ${url} now.`,
          secret === null ? '' : `Signing secret, shown only this once: ${secret}`,
          notSentNote(state),
        ),
      };
    }),
  );
}

/** A URL that only the development setting would allow is refused with the name of that setting. */
function withAdvice(error: unknown, url: string): unknown {
  if (!(error instanceof DomainError) || createSsrfGuard(true).problemOf(url) !== null) return error;
  return new DomainError(
    error.code,
    `${error.message} For development, WEBHOOK_PRIVATE_TARGETS=on allows it.`,
    error.field,
  );
}

function addRotateSecret(noun: Command, shell: Shell): void {
  const command = noun
    .command('rotate-secret')
    .description('create a new signing secret, which is shown only once; the old one stays valid for the grace period')
    .argument('<integration>', ID_HELP)
    .option('--grace-hours <hours>', `0 to ${GRACE_MAX_HOURS}`, wholeNumber(0, GRACE_MAX_HOURS), GRACE_DEFAULT_HOURS)
    .option(...FORCE_OPTION)
    .addHelpText('after', '\nExample:\n  $ npm run -s crownwheel -- webhooks rotate-secret int_… --grace-hours 0');
  shell.run(command, async (integrationId: string, { graceHours, force }: { graceHours: number; force?: boolean }) =>
    shell.withChannel(async ({ context: { db, now }, config }) => {
      const encryption = createSecretEncryption(config.secretKeys);
      if (force !== true) await assertKeysFit(db, encryption, integrationId);
      const earlier = (await readSecrets(db, encryption, integrationId)).length;
      const secret = await rotateSigningSecret(db, COMMAND_LINE, encryption, integrationId, graceHours, now());
      if (secret === null) throw notFound('integration', integrationId);
      const state = await endpointOf(db, integrationId);
      return {
        json: {
          object: 'webhook_secret',
          integration_id: integrationId,
          secret,
          grace_hours: graceHours,
          earlier_secrets: earlier,
          ...sendingJson(state),
        },
        text: joinLines(
          `Signing secret, shown only this once: ${secret}`,
          fateOfEarlier(earlier, graceHours),
          notSentNote(state),
        ),
      };
    }),
  );
}

function fateOfEarlier(earlier: number, graceHours: number): string {
  if (earlier === 0) return 'There was no earlier secret.';
  const [which, signs] = earlier === 1 ? ['The old one', 'signs'] : [`The ${earlier} older ones`, 'sign'];
  if (graceHours === 0) return `${which} no longer ${signs}.`;
  return `${which} also ${signs} for ${graceHours} hours${earlier === 1 ? '' : ' at most'}.`;
}

function addSubscribe(noun: Command, shell: Shell): void {
  const command = noun
    .command('subscribe')
    .description('choose the events that are sent; "*" is all')
    .argument('<integration>', ID_HELP)
    .argument('<names...>', 'event names, or wildcards such as "listing.*"')
    .addHelpText('after', "\nExample:\n  $ npm run -s crownwheel -- webhooks subscribe int_… '*'");
  shell.run(command, async (integrationId: string, given: string[]) =>
    shell.withDatabase(async (db) => {
      const names = [...new Set(given)];
      if (!(await subscribe(db, COMMAND_LINE, integrationId, names))) throw notFound('integration', integrationId);
      const state = await endpointOf(db, integrationId);
      return {
        json: { object: 'webhook', integration_id: integrationId, subscribed_events: names, ...sendingJson(state) },
        text: joinLines(`Subscribed: ${names.join(', ')}`, notSentNote(state)),
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
      if (!(await setWebhooksEnabled(db, COMMAND_LINE, integrationId, isEnabled)))
        throw notFound('integration', integrationId);
      const state = await endpointOf(db, integrationId);
      const word = isEnabled ? (state.isSending ? 'on' : 'switched on') : 'off';
      return {
        json: { object: 'webhook', integration_id: integrationId, is_enabled: isEnabled, ...sendingJson(state) },
        text: joinLines(`Webhooks of ${integrationId} are ${word} now.`, notSentNote(state)),
      };
    }),
  );
}
