import type { Command } from 'commander';
import { type Check, examine } from '../doctor.ts';
import type { Shell } from '../shell.ts';

const EXAMPLES = `
Examples:
  $ npm run -s crownwheel -- doctor
  $ npm run -s crownwheel -- doctor --json

The exit code is 1 when something is wrong.`;

export function addDoctor(program: Command, shell: Shell): void {
  const command = program
    .command('doctor')
    .description('check settings, data folder, database, migrations, keys, clock and port; say what is wrong')
    .addHelpText('after', EXAMPLES);
  shell.run(command, async () => {
    const checks = await examine(shell);
    const wrongs = checks.filter((check) => !check.isOk).length;
    return {
      json: { object: 'examination', is_ok: wrongs === 0, checks: checks.map(checkJson) },
      text: [...checks.map(checkLine), '', verdict(wrongs)].join('\n'),
      isFailure: wrongs > 0,
    };
  });
}

function checkJson(check: Check): Record<string, unknown> {
  return { name: check.name, is_ok: check.isOk, message: check.message, mend: check.mend };
}

function checkLine(check: Check): string {
  const line = `${check.isOk ? 'ok   ' : 'WRONG'}  ${check.name.padEnd(12)} ${check.message}`;
  return check.mend === null ? line : `${line}\n       ${''.padEnd(12)} → ${check.mend}`;
}

function verdict(wrongs: number): string {
  if (wrongs === 0) return 'All is well.';
  return wrongs === 1 ? 'One thing is wrong.' : `${wrongs} things are wrong.`;
}
