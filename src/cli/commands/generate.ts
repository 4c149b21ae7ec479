import { type Command, InvalidArgumentError } from 'commander';
import { COMMAND_LINE } from '../../audit/actor.ts';
import type { ChannelContext } from '../../channel/context.ts';
import type { Database } from '../../db/database.ts';
import { notFound } from '../../dealers/input-rules.ts';
import { createIntegration, findIntegration, setRateLimit } from '../../dealers/integrations/integrations.ts';
import { currencyOf } from '../../dealers/organization-settings.ts';
import { createOrganization } from '../../dealers/organizations.ts';
import { generateListings } from '../../demo/generate.ts';
import { fields } from '../plain-text.ts';
import type { CommandOutput, Shell } from '../shell.ts';

const EXAMPLES = `
Examples:
  $ npm run -s crownwheel -- generate --listings 100000
  $ npm run -s crownwheel -- generate --listings 5000 --organization org_… --integration int_…

Without --organization, the command creates one. Without --integration, it creates one with a high
rate limit and shows its key, only this once. The photos of the listings have no files.`;

const LISTINGS_MAX = 10_000_000;
const RATE_LIMIT = 1_000_000;
const PROGRESS_EVERY = 10_000;

type Options = { listings: number; organization?: string; integration?: string };
type Target = { organizationId: string; integrationId: string; apiKey: string | null };

/** Stock in bulk, to measure with. */
export function addGenerate(program: Command, shell: Shell): void {
  const command = program
    .command('generate')
    .description('create and publish many listings, for measurements')
    .requiredOption('--listings <n>', `how many, 1 to ${LISTINGS_MAX}`, parseCount)
    .option('--organization <id>', 'the dealer who gets them, org_…')
    .option('--integration <id>', 'the channel that shows them, int_…')
    .addHelpText('after', EXAMPLES);
  shell.run(command, async (options: Options) => {
    const isForNewDealer = options.organization === undefined && options.integration === undefined;
    return await shell.withChannel(({ context }) => generate(context, options, shell), {
      createsDatabase: isForNewDealer,
    });
  });
}

async function generate(context: ChannelContext, options: Options, shell: Shell): Promise<CommandOutput> {
  const target = await targetOf(context.db, options);
  const startedAt = Date.now();
  const seconds = () => (Date.now() - startedAt) / 1000;
  await generateListings(context, {
    organizationId: target.organizationId,
    integrationId: target.integrationId,
    count: options.listings,
    onProgress: (done) => {
      if (done % PROGRESS_EVERY === 0) shell.onProgress(`${done} of ${options.listings}, ${seconds().toFixed(1)} s`);
    },
  });
  return {
    json: {
      object: 'generation',
      listings: options.listings,
      organization_id: target.organizationId,
      integration_id: target.integrationId,
      ...(target.apiKey === null ? {} : { api_key: target.apiKey }),
      seconds: Number(seconds().toFixed(1)),
    },
    text: `${options.listings} listings are published (${seconds().toFixed(1)} s).\n${fields([
      ['organization', target.organizationId],
      ['integration', target.integrationId],
      ...(target.apiKey === null ? [] : [['key', target.apiKey] as [string, string]]),
    ])}`,
  };
}

async function targetOf(db: Database, { organization, integration }: Options): Promise<Target> {
  if (integration !== undefined) {
    const found = await findIntegration(db, integration);
    const isTheirs = organization === undefined || found?.organizationId === organization;
    if (found === null || found.organizationId === null || !isTheirs) throw notFound('integration', integration);
    return { organizationId: found.organizationId, integrationId: integration, apiKey: null };
  }
  const organizationId =
    organization ?? (await createOrganization(db, COMMAND_LINE, { name: 'Generated', hasPlan: true })).id;
  const currency = await currencyOf(db, organizationId);
  if (currency === null) throw notFound('organization', organizationId);
  const made = await createIntegration(db, COMMAND_LINE, {
    organizationId,
    userId: null,
    name: 'Generated',
    currency,
    isTestMode: false,
  });
  await setRateLimit(db, COMMAND_LINE, made.id, RATE_LIMIT);
  return { organizationId, integrationId: made.id, apiKey: made.apiKey };
}

function parseCount(text: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && count <= LISTINGS_MAX) return count;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${LISTINGS_MAX}.`);
}
