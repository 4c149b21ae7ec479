import type { Command } from 'commander';
import { COMMAND_LINE } from '../../audit/actor.ts';
import { DomainError } from '../../contract/domain-error.ts';
import { checkedCurrency } from '../../dealers/input-rules.ts';
import {
  type ExchangeRate,
  findConvertingChannels,
  listRates,
  removeRate,
  setRate,
} from '../../dealers/rates/exchange-rates.ts';
import { table } from '../plain-text.ts';
import type { CommandChannel, Shell } from '../shell.ts';

const EXAMPLES = `
Examples:
  $ npm run -s crownwheel -- rates set CHF USD 1.2418
  $ npm run -s crownwheel -- rates list
  $ npm run -s crownwheel -- rates remove CHF USD

Rates are the operator's: each applies to all dealers. A rate serves both directions, so a new one replaces that of the
opposite direction. "rates set" prints what it replaced and how many channels are repriced.

A channel whose currency is not its dealer's needs a rate: without one, its reads answer 500 query_failed, because the
service never shows a wrong price. So a change that would leave a channel without its rate is refused unless you pass
--force. "doctor" counts the items that cannot be priced.`;

/** What one unit of a currency is worth in another. */
export function addRates(program: Command, shell: Shell): void {
  const noun = program
    .command('rates')
    .description('manage exchange rates, for channels whose currency is not their dealer’s')
    .addHelpText('after', EXAMPLES);

  const set = noun
    .command('set')
    .description('set how much of the second currency one unit of the first buys')
    .argument('<base>', 'ISO 4217, such as CHF')
    .argument('<quote>', 'ISO 4217, such as USD')
    .argument('<rate>', 'a positive decimal with at most ten decimals, such as 1.2418')
    .addHelpText('after', '\nExample:\n  $ npm run -s crownwheel -- rates set CHF USD 1.2418');
  shell.run(set, async (baseText: string, quoteText: string, rate: string) =>
    shell.withChannel(async (channel) => {
      const { context } = channel;
      const [base, quote] = [checkedCurrency(baseText), checkedCurrency(quoteText)];
      const replaced = await setRate(context, COMMAND_LINE, base, quote, rate);
      const repriced = await concernedBy(channel, base, quote, 'repriced');
      const stored = (await listRates(context.db)).find((found) => found.base === base && found.quote === quote);
      return {
        json: {
          ...rateJson(stored ?? { base, quote, rate }),
          replaced: replaced === null ? null : rateJson(replaced),
          repriced_channels: repriced.count,
        },
        text: `One ${base} is ${stored?.rate ?? rate} ${quote} now.${replacedText(replaced)}\n${repriced.text}`,
      };
    }),
  );

  const list = noun
    .command('list')
    .description('list all rates')
    .addHelpText('after', '\nExample:\n  $ npm run -s crownwheel -- rates list --json');
  shell.run(list, async () => {
    const rates = await shell.withDatabase(listRates);
    return {
      json: { object: 'list', data: rates.map(rateJson), has_more: false },
      text:
        rates.length === 0
          ? 'No rates yet; set one with "rates set".'
          : table(
              ['BASE', 'QUOTE', 'RATE'],
              rates.map(({ base, quote, rate }) => [base, quote, rate]),
            ),
    };
  });

  const remove = noun
    .command('remove')
    .description('delete a rate that no channel needs')
    .argument('<base>', 'the currency code that was set')
    .argument('<quote>', 'the currency code that was set')
    .option('--force', 'delete it even if channels need it; their items then have no price, and their reads answer 500')
    .addHelpText('after', '\nExample:\n  $ npm run -s crownwheel -- rates remove CHF USD');
  shell.run(remove, async (baseText: string, quoteText: string, { force }: { force?: boolean }) =>
    shell.withChannel(async (channel) => {
      const { context } = channel;
      const [base, quote] = [checkedCurrency(baseText), checkedCurrency(quoteText)];
      if (!(await removeRate(context, COMMAND_LINE, base, quote, { isForced: force === true }))) {
        throw new DomainError('not_found', `There is no rate from ${base} to ${quote}.`);
      }
      const unpriced = await concernedBy(channel, base, quote, 'left without prices');
      return {
        json: { object: 'rate', base, quote, deleted: true },
        text: `The rate from ${base} to ${quote} is deleted.\n${unpriced.text}`,
      };
    }),
  );
}

function replacedText(replaced: ExchangeRate | null): string {
  if (replaced === null) return '';
  return ` This replaces the rate that was there: one ${replaced.base} was ${replaced.rate} ${replaced.quote}.`;
}

/** Whose prices the rate is in. The operator may not know that other dealers use the pair. */
async function concernedBy(
  { context, jobNote }: CommandChannel,
  base: string,
  quote: string,
  consequence: string,
): Promise<{ count: number; text: string }> {
  const channels = await findConvertingChannels(context.db, base, quote);
  const count = channels.length;
  if (count === 0) return { count, text: 'No channel converts between the two, so no price changes.' };
  const dealers = [...new Set(channels.map(({ organizationId }) => organizationId))];
  const subject = count === 1 ? '1 channel is' : `${count} channels are`;
  const owners = dealers.length === 1 ? '1 dealer' : `${dealers.length} dealers`;
  return { count, text: `${subject} ${consequence}, of ${owners}. ${jobNote(dealers)}` };
}

function rateJson({ base, quote, rate }: ExchangeRate): Record<string, unknown> {
  return { object: 'rate', base, quote, rate };
}
