import { type Command, InvalidArgumentError, Option } from 'commander';
import { COMMAND_LINE } from '../../audit/actor.ts';
import { ROUNDINGS } from '../../channel/projection/pricing.ts';
import { rollVersion } from '../../channel/roll-version.ts';
import { DomainError } from '../../contract/domain-error.ts';
import { VERSIONS } from '../../contract/versions.ts';
import type { Database } from '../../db/database.ts';
import { checkedCurrency, notFound } from '../../dealers/input-rules.ts';
import {
  changePresentation,
  findPresentation,
  IMAGE_FORMATS,
  type Presentation,
  type PresentationSettings,
} from '../../dealers/integrations/integration-settings.ts';
import { findIntegration } from '../../dealers/integrations/integrations.ts';
import { fields } from '../plain-text.ts';
import type { CommandOutput, Shell } from '../shell.ts';

type PresentationOptions = {
  currency?: string;
  markup?: number;
  rounding?: string;
  imageFormat?: string;
  force?: boolean;
};

export const FORCE_HELP = 'also without the exchange rate that its prices need';

/** How a channel shows its items: prices and photos. Without options it is only shown. */
export function addPresentation(noun: Command, shell: Shell, idHelp: string): void {
  const command = noun
    .command('presentation')
    .description('change how the channel shows prices and photos; without options, print the settings')
    .argument('<id>', idHelp)
    .option('--currency <code>', 'the currency of its prices, ISO 4217')
    .option('--markup <percent>', 'percent to add to the dealer’s prices, such as 2.5, or to subtract: -5', parseMarkup)
    .addOption(new Option('--rounding <rule>', 'how its prices are rounded, in units').choices(ROUNDINGS))
    .addOption(new Option('--image-format <format>', 'the format of its photos').choices(IMAGE_FORMATS))
    .option('--force', FORCE_HELP)
    .addHelpText(
      'after',
      '\nExample:\n  $ npm run -s crownwheel -- integration presentation int_… --currency EUR --markup 2.5 --rounding to_10',
    );
  shell.run(command, async (id: string, options: PresentationOptions) =>
    shell.withChannel(async ({ context, jobNote }) => {
      const before = await presentationOf(context.db, id);
      const changes = changesOf(options);
      if (Object.keys(changes).length === 0) return answer('', before);
      if (before.organizationId === null) {
        throw new DomainError('not_found', 'The integration is not attached to an organization.');
      }
      const { force: isForced = false } = options;
      await changePresentation(context, COMMAND_LINE, before.organizationId, id, changes, { isForced });
      return answer(
        `The presentation is changed. ${jobNote([before.organizationId])}\n`,
        await presentationOf(context.db, id),
      );
    }),
  );
}

export function addRoll(noun: Command, shell: Shell, idHelp: string): void {
  const versions = VERSIONS.map((version) => version.date);
  const command = noun
    .command('roll')
    .description(
      'move the integration to another API version; clients read the old one until all documents are rendered',
    )
    .argument('<id>', idHelp)
    .argument('<version>', `one of ${versions.join(', ')}`)
    .addHelpText('after', `\nExample:\n  $ npm run -s crownwheel -- integration roll int_… ${versions.at(-1)}`);
  shell.run(command, async (id: string, version: string) => {
    if (!versions.includes(version)) {
      throw new DomainError('invalid_input', `There is no version ${version}; there is ${versions.join(', ')}.`);
    }
    return await shell.withChannel(async ({ context, jobNote }) => {
      const integration = await findIntegration(context.db, id);
      if (integration === null) throw notFound('integration', id);
      const dealers = integration.organizationId === null ? [] : [integration.organizationId];
      const isRolling = await rollVersion(context, COMMAND_LINE, id, version);
      const line = isRolling
        ? `The integration moves from ${integration.apiVersion} to ${version}. ${jobNote(dealers)}`
        : `The integration already uses ${version}.`;
      return {
        json: {
          object: 'integration',
          id,
          api_version: integration.apiVersion,
          rolling_to_version: isRolling ? version : null,
        },
        text: line,
      };
    });
  });
}

function changesOf({ currency, markup, rounding, imageFormat }: PresentationOptions): Partial<PresentationSettings> {
  return {
    ...(currency === undefined ? {} : { currency: checkedCurrency(currency) }),
    ...(markup === undefined ? {} : { markupBasisPoints: markup }),
    // Both were chosen from the lists that the option names.
    ...(rounding === undefined ? {} : { rounding: rounding as PresentationSettings['rounding'] }),
    ...(imageFormat === undefined ? {} : { imageFormat: imageFormat as PresentationSettings['imageFormat'] }),
  };
}

/** Percent as a person writes it, to the hundredth, which is what is stored. */
function parseMarkup(text: string): number {
  if (!/^-?\d{1,4}(\.\d{1,2})?$/.test(text)) {
    throw new InvalidArgumentError('It must be a percentage with at most two decimals, such as 2.5.');
  }
  return Math.round(Number(text) * 100);
}

async function presentationOf(db: Database, id: string): Promise<Presentation> {
  const presentation = await findPresentation(db, id);
  if (presentation === null) throw notFound('integration', id);
  return presentation;
}

function answer(line: string, presentation: Presentation): CommandOutput {
  return {
    json: {
      object: 'presentation',
      integration_id: presentation.integrationId,
      currency: presentation.currency,
      markup_basis_points: presentation.markupBasisPoints,
      rounding: presentation.rounding,
      image_format: presentation.imageFormat,
    },
    text: `${line}${fields([
      ['id', presentation.integrationId],
      ['currency', presentation.currency],
      ['markup', `${presentation.markupBasisPoints / 100} %`],
      ['rounding', presentation.rounding],
      ['image format', presentation.imageFormat],
    ])}`,
  };
}
