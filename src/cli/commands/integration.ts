import { Argument, type Command } from 'commander';
import { COMMAND_LINE } from '../../audit/actor.ts';
import { RATE_LIMIT_DEFAULT, RATE_LIMIT_OVERRIDE_MAX, STORAGE_QUOTA_MAX_MB_PER_DAY } from '../../contract/limits.ts';
import type { Database } from '../../db/database.ts';
import { StartError } from '../../db/start-error.ts';
import { deleteIntegration } from '../../dealers/deletions.ts';
import { notFound, RATE_LIMIT_OVERRIDE_MIN } from '../../dealers/input-rules.ts';
import { setOrganization } from '../../dealers/integrations/attach-integration.ts';
import type { IntegrationSummary } from '../../dealers/integrations/change-setting.ts';
import {
  createIntegration,
  findIntegration,
  listIntegrations,
  setEnabled,
  setRateLimit,
  setStorageQuota,
} from '../../dealers/integrations/integrations.ts';
import { rotateApiKey } from '../../dealers/integrations/rotate-api-key.ts';
import type { ListPage } from '../../dealers/organizations.ts';
import { fields, table } from '../plain-text.ts';
import type { CommandOutput, Shell } from '../shell.ts';
import { addPresentation, addRoll, FORCE_HELP } from './integration-channel.ts';
import { listPage, pageOptions } from './list-page.ts';
import { parseNumberOrDefault } from './option-values.ts';

const EXAMPLES = `
Examples:
  $ npm run -s crownwheel -- integration create --organization org_… --name "Website" --currency CHF --live
  $ npm run -s crownwheel -- integration list
  $ npm run -s crownwheel -- integration rate-limit int_… 1200
  $ npm run -s crownwheel -- integration regenerate-key int_…

A change takes effect with the next request, on every node.`;

const LIMIT_HELP = `a whole number from ${RATE_LIMIT_OVERRIDE_MIN} to ${RATE_LIMIT_OVERRIDE_MAX}, or "default" for ${RATE_LIMIT_DEFAULT}`;
const QUOTA_HELP = `a whole number from 1 to ${STORAGE_QUOTA_MAX_MB_PER_DAY}, or "default" for STORAGE_QUOTA_MB_PER_DAY`;
const ID_HELP = 'the integration, int_…';

/** The connection of one website to one dealer: has the API key. */
export function addIntegration(program: Command, shell: Shell): void {
  const noun = program
    .command('integration')
    .description('manage integrations: keys, limits, prices and photos')
    .addHelpText('after', EXAMPLES);
  addCreate(noun, shell);
  addList(noun, shell);
  addChange(noun, shell, {
    verb: 'enable',
    description: 'serve its requests again',
    line: 'The integration is enabled.',
    change: (db, id) => setEnabled(db, COMMAND_LINE, id, true),
  });
  addChange(noun, shell, {
    verb: 'disable',
    description: 'pause it: every request answers 403 integration_disabled',
    line: 'The integration is disabled.',
    change: (db, id) => setEnabled(db, COMMAND_LINE, id, false),
  });
  addChange(noun, shell, {
    verb: 'detach',
    description: 'take it away from its dealer: every request answers 403 integration_org_missing',
    line: 'The integration is detached from its organization; its key stays known.',
    change: (db, id) => setOrganization(db, COMMAND_LINE, id, null),
  });
  addChange(noun, shell, {
    verb: 'attach',
    description: 'give it to a dealer',
    argument: new Argument('<organization>', 'the dealer, org_…'),
    example: 'org_…',
    line: 'The integration is attached.',
    forceHelp: FORCE_HELP,
    change: (db, id, organizationId, isForced) => setOrganization(db, COMMAND_LINE, id, organizationId, { isForced }),
  });
  addChange(noun, shell, {
    verb: 'rate-limit',
    description: 'set how many tokens it may spend in any 60 seconds',
    argument: new Argument('<limit>', LIMIT_HELP).argParser(parseNumberOrDefault),
    example: '1200',
    line: 'The rate limit is set.',
    change: (db, id, limit) => setRateLimit(db, COMMAND_LINE, id, limit === 'default' ? null : Number(limit)),
  });
  addChange(noun, shell, {
    verb: 'storage-quota',
    description: 'set how many megabytes its writes may store in a UTC day',
    argument: new Argument('<megabytes>', QUOTA_HELP).argParser(parseNumberOrDefault),
    example: '51200',
    line: 'The storage quota is set.',
    change: (db, id, quota) => setStorageQuota(db, COMMAND_LINE, id, quota === 'default' ? null : Number(quota)),
  });
  addPresentation(noun, shell, ID_HELP);
  addRoll(noun, shell, ID_HELP);
  addRegenerateKey(noun, shell);
  addDelete(noun, shell);
}

type CreateOptions = {
  organization: string;
  name: string;
  currency: string;
  user?: string;
  live?: boolean;
  force?: boolean;
};

function addCreate(noun: Command, shell: Shell): void {
  const command = noun
    .command('create')
    .description('create an integration and print its API key, which is shown only once')
    .requiredOption('--organization <id>', 'the dealer, org_…')
    .requiredOption('--name <name>', 'what to call it, 1 to 500 characters')
    .option('--currency <code>', 'the currency of its prices, ISO 4217', 'USD')
    .option('--user <id>', 'the user it belongs to, usr_…, of the same dealer')
    .option('--live', 'create it in live mode; the default is test mode')
    .option('--force', FORCE_HELP)
    .addHelpText(
      'after',
      '\nExample:\n  $ npm run -s crownwheel -- integration create --organization org_… --name "Website" --currency CHF',
    );
  shell.run(command, async ({ organization: organizationId, name, currency, user, live, force }: CreateOptions) =>
    shell.withDatabase(async (db) => {
      const made = await createIntegration(db, COMMAND_LINE, {
        organizationId,
        name,
        currency,
        userId: user ?? null,
        isTestMode: live !== true,
        isForced: force === true,
      });
      return answer('Integration created. The key is shown only this once.', await find(db, made.id), made.apiKey);
    }),
  );
}

function addList(noun: Command, shell: Shell): void {
  const command = pageOptions(noun.command('list').description('list all integrations')).addHelpText(
    'after',
    '\nExample:\n  $ npm run -s crownwheel -- integration list --json',
  );
  shell.run(command, (page: ListPage) =>
    shell.withDatabase((db) =>
      listPage(page, (wanted) => listIntegrations(db, wanted), {
        json: integrationJson,
        text: integrationTable,
        none: 'No integrations yet; make one with "integration create".',
      }),
    ),
  );
}

type Change = {
  verb: string;
  description: string;
  /** What the verb needs beside the id. */
  argument?: Argument;
  example?: string;
  line: string;
  /** What --force does, if the verb has it. */
  forceHelp?: string;
  /** False if there is no such integration. */
  change: (db: Database, id: string, value: string, isForced: boolean) => Promise<boolean>;
};

/** The verbs that change one thing and show the integration as it is then. */
function addChange(noun: Command, shell: Shell, wanted: Change): void {
  const { verb, description, argument, example, line, forceHelp, change } = wanted;
  const command = noun
    .command(verb)
    .description(description)
    .argument('<id>', ID_HELP)
    .addHelpText(
      'after',
      `\nExample:\n  $ npm run -s crownwheel -- integration ${verb} int_…${` ${example ?? ''}`.trimEnd()}`,
    );
  if (argument !== undefined) command.addArgument(argument);
  if (forceHelp !== undefined) command.option('--force', forceHelp);
  shell.run(command, async (id: string, value: unknown) =>
    shell.withDatabase(async (db) => {
      const { force: isForced = false } = command.opts<{ force?: boolean }>();
      if (!(await change(db, id, String(value), isForced))) throw notFound('integration', id);
      return answer(line, await find(db, id));
    }),
  );
}

function addRegenerateKey(noun: Command, shell: Shell): void {
  const command = noun
    .command('regenerate-key')
    .description(
      'replace the API key and print the new one, which is shown only once; the old key stops working at once',
    )
    .argument('<id>', ID_HELP)
    .addHelpText('after', '\nExample:\n  $ npm run -s crownwheel -- integration regenerate-key int_…');
  shell.run(command, async (id: string) =>
    shell.withDatabase(async (db) => {
      const apiKey = await rotateApiKey(db, COMMAND_LINE, id);
      if (apiKey === null) throw notFound('integration', id);
      return answer('The old key no longer works. The new key is shown only this once.', await find(db, id), apiKey);
    }),
  );
}

function addDelete(noun: Command, shell: Shell): void {
  const command = noun
    .command('delete')
    .description('delete the integration for ever: its key stops working at once, and a worker removes its data')
    .argument('<id>', ID_HELP)
    .option('--yes', 'confirm the deletion')
    .addHelpText('after', '\nExample:\n  $ npm run -s crownwheel -- integration delete int_… --yes');
  shell.run(command, async (id: string, { yes }: { yes?: boolean }) => {
    if (yes !== true) throw new StartError(`this deletes ${id} for good; add --yes if you mean it`);
    return await shell.withChannel(async ({ context, deletionNote }) => {
      const { organizationId } = await find(context.db, id);
      if (!(await deleteIntegration(context.db, COMMAND_LINE, id))) throw notFound('integration', id);
      return {
        json: { object: 'integration', id, deleted: true },
        text: `The integration ${id} is deleted; its key is unknown from now on. ${deletionNote(organizationId)}`,
      };
    });
  });
}

async function find(db: Database, id: string): Promise<IntegrationSummary> {
  const integration = await findIntegration(db, id);
  if (integration === null) throw notFound('integration', id);
  return integration;
}

function answer(line: string, integration: IntegrationSummary, apiKey?: string): CommandOutput {
  return {
    json: { ...integrationJson(integration), ...(apiKey === undefined ? {} : { api_key: apiKey }) },
    text: `${line}\n${fields([
      ['id', integration.id],
      ['name', integration.name],
      ['organization', integration.organizationId],
      ['enabled', integration.isEnabled],
      ['test mode', integration.isTestMode],
      ['currency', integration.currency],
      ['version', integration.apiVersion],
      ['rate limit', integration.rateLimitOverride ?? 'default'],
      ['storage quota', integration.storageQuotaMb === null ? 'default' : `${integration.storageQuotaMb} MB a day`],
      ['key', apiKey ?? integration.keyHint],
    ])}`,
  };
}

function integrationJson(integration: IntegrationSummary): Record<string, unknown> {
  return {
    object: 'integration',
    id: integration.id,
    organization_id: integration.organizationId,
    name: integration.name,
    key_hint: integration.keyHint,
    is_enabled: integration.isEnabled,
    is_test_mode: integration.isTestMode,
    api_version: integration.apiVersion,
    currency: integration.currency,
    rate_limit_override: integration.rateLimitOverride,
    storage_quota_mb: integration.storageQuotaMb,
  };
}

function integrationTable(integrations: IntegrationSummary[]): string {
  return table(
    ['ID', 'ORGANIZATION', 'ENABLED', 'TEST MODE', 'CURRENCY', 'LIMIT', 'KEY', 'NAME'],
    integrations.map((row) => [
      row.id,
      row.organizationId,
      row.isEnabled,
      row.isTestMode,
      row.currency,
      row.rateLimitOverride ?? 'default',
      row.keyHint,
      row.name,
    ]),
  );
}
