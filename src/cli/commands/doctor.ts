import type { Command } from 'commander';
import { type Check, isWarning } from '../doctor/check.ts';
import { runChecks } from '../doctor/doctor.ts';
import type { Shell } from '../shell.ts';

const EXAMPLES = `
Examples:
  $ npm run -s crownwheel -- doctor
  $ npm run -s crownwheel -- doctor --json

The exit code is 1 if a check fails. A warning does not change it.`;

const NAME_WIDTH = 'signing secrets'.length;

export function addDoctor(program: Command, shell: Shell): void {
  const command = program
    .command('doctor')
    .description(
      'check settings, folders, database, durability, migrations, keys, secrets, prices, photos, mail, clock and port',
    )
    .addHelpText('after', EXAMPLES);
  shell.run(command, async () => {
    const checks = await runChecks(shell);
    const wrongs = checks.filter((check) => !check.isOk).length;
    return {
      json: { object: 'examination', is_ok: wrongs === 0, checks: checks.map(checkJson) },
      text: [...checks.map(checkLine), '', verdict(wrongs, checks.filter(isWarning).length)].join('\n'),
      isFailure: wrongs > 0,
    };
  });
}

function checkJson(check: Check): Record<string, unknown> {
  const { name, isOk, message, mend } = check;
  return { name, is_ok: isOk, is_warning: isWarning(check), message, mend };
}

function checkLine(check: Check): string {
  const label = check.isOk ? (isWarning(check) ? 'warn ' : 'ok   ') : 'WRONG';
  const line = `${label}  ${check.name.padEnd(NAME_WIDTH)} ${check.message}`;
  return check.mend === null ? line : `${line}\n       ${''.padEnd(NAME_WIDTH)} → ${check.mend}`;
}

function verdict(wrongs: number, warnings: number): string {
  if (wrongs > 0) return wrongs === 1 ? 'One thing is wrong.' : `${wrongs} things are wrong.`;
  if (warnings > 0) return `Nothing is wrong, with ${warnings === 1 ? 'one warning' : `${warnings} warnings`}.`;
  return 'All is well.';
}
