import { Command, CommanderError } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import { DomainError, type DomainErrorCode } from '../contract/domain-error.ts';
import { CURRENT_VERSION } from '../contract/versions.ts';
import { StartError } from '../db/start-error.ts';
import { createShell, type Shell, type Terminal } from './shell.ts';

type AddNoun = (program: Command, shell: Shell) => void;

/**
 * Every noun adds its own verbs; a new one needs its file in commands/ and its line here, in the order of the help. A command loads
 * the code of its own noun alone: that of all of them takes three times as long as most commands.
 */
const NOUNS: Record<string, () => Promise<AddNoun>> = {
  organization: async () => (await import('./commands/organization.ts')).addOrganization,
  user: async () => (await import('./commands/user.ts')).addUser,
  integration: async () => (await import('./commands/integration.ts')).addIntegration,
  webhooks: async () => (await import('./commands/webhooks/webhooks.ts')).addWebhooks,
  replays: async () => (await import('./commands/webhooks/replays.ts')).addReplays,
  rates: async () => (await import('./commands/rates.ts')).addRates,
  jobs: async () => (await import('./commands/jobs.ts')).addJobs,
  photos: async () => (await import('./commands/photos.ts')).addPhotos,
  stock: async () => (await import('./commands/stock.ts')).addStock,
  migrate: async () => (await import('./commands/migrate.ts')).addMigrate,
  generate: async () => (await import('./commands/generate.ts')).addGenerate,
  doctor: async () => (await import('./commands/doctor.ts')).addDoctor,
};

const EXAMPLES = `
Examples:
  $ npm run -s crownwheel -- organization create --name "Lindqvist & Daughters"
  $ npm run -s crownwheel -- integration create --organization org_… --name "Website" --currency CHF --live
  $ npm run -s crownwheel -- integration list --json
  $ npm run -s crownwheel -- doctor

Commands read the same settings as the service (DATABASE_URL, or DATA_DIR for the embedded database). They work while
the service runs and while it does not. "crownwheel <command> --help" shows the options of a command.`;

/** Runs one command to its end and answers the process's exit code. Nothing is thrown at the caller. */
export async function runCommandLine(args: string[], terminal: Terminal): Promise<number> {
  // Taken out beforehand, so that it may stand anywhere and also shapes the complaint about a faulty command line.
  const isJson = args.includes('--json');
  const words = args.filter((arg) => arg !== '--json');
  const shell = createShell(terminal, isJson);
  const program = new Command('crownwheel')
    .description('Operate Crownwheel: manage dealers, users, integrations and webhooks.')
    .version(
      `${manifest.version} (API ${CURRENT_VERSION})`,
      '--version',
      'print the release and its newest API version',
    )
    .option('--json', 'print one JSON document; errors too, as {"error": "…"} on standard error')
    .addHelpText('after', EXAMPLES)
    .exitOverride()
    .configureOutput({
      writeOut: terminal.writeOut,
      writeErr: isJson ? () => {} : terminal.writeErr,
      // A faulty command line is reported below, like every other error.
      outputError: () => {},
    });
  for (const loadNoun of nounsFor(words[0])) (await loadNoun())(program, shell);
  try {
    await program.parseAsync(words, { from: 'user' }).catch(unlessShown);
    await terminal.written();
    return shell.exitCode();
  } catch (error) {
    const message = messageOf(error);
    const isHelpShown = error instanceof CommanderError && error.code === 'commander.help' && !isJson;
    if (!isHelpShown) {
      terminal.writeErr(isJson ? `${JSON.stringify({ error: message })}\n` : `crownwheel: ${message}\n`);
    }
    return 1;
  }
}

/** The help and the version come as an error that is none. */
function unlessShown(error: unknown): void {
  if (!(error instanceof CommanderError) || error.exitCode !== 0) throw error;
}

/** All of them where the first word names none: the help lists them, and a complaint suggests what it resembles. */
function nounsFor(word = ''): (() => Promise<AddNoun>)[] {
  const loadNoun = Object.hasOwn(NOUNS, word) ? NOUNS[word] : undefined;
  return loadNoun === undefined ? Object.values(NOUNS) : [loadNoun];
}

/** How an operator can override a refusal. The operations themselves don't know the command line. */
const FORCE_HINTS: Partial<Record<DomainErrorCode, string>> = {
  rate_missing: 'Use "rates set", or add --force: reads then answer 500 until the rate is there.',
  rate_in_use: 'Add --force to take it away all the same: their reads then answer 500.',
};

/** One line for a problem that the operator can fix; anything else is a bug, and is printed as one line, too. */
function messageOf(error: unknown): string {
  if (error instanceof CommanderError) {
    if (error.code === 'commander.help') return 'name a command; --help lists them';
    return oneLine(error.message.replace(/^error: /, ''));
  }
  if (error instanceof DomainError && FORCE_HINTS[error.code] !== undefined) {
    return oneLine(`${error.message} ${FORCE_HINTS[error.code]}`);
  }
  if (error instanceof StartError || error instanceof DomainError) return oneLine(error.message);
  return `the command failed: ${oneLine(error instanceof Error ? error.message : String(error))}`;
}

function oneLine(text: string): string {
  return text.trim().replaceAll(/\s*\n\s*/g, '; ');
}
