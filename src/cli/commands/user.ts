import { type Command, Option } from 'commander';
import { COMMAND_LINE } from '../../audit/actor.ts';
import { createUser } from '../../dealers/users.ts';
import { randomBase62 } from '../../ids/new-id.ts';
import { fields } from '../plain-text.ts';
import type { Shell } from '../shell.ts';

const EXAMPLES = `
Examples:
  $ npm run -s crownwheel -- user create --organization org_… --name "Dana" --email dana@example.com
  $ printf '%s' "$PASSWORD" | npm run -s crownwheel -- user create --organization org_… --name "Dana" \\
      --email dana@example.com --password-stdin

Without a password one is made and shown this once. One given by --password can be seen in the list of processes;
--password-stdin keeps it out of there.`;

const GENERATED_PASSWORD_LENGTH = 20;

type Options = { organization: string; name: string; email: string; password?: string; passwordStdin?: boolean };

/** A person who works for a dealer and signs in to the dashboard. */
export function addUser(program: Command, shell: Shell): void {
  const noun = program.command('user').description("dealers' people").addHelpText('after', EXAMPLES);

  const create = noun
    .command('create')
    .description('make a user who can sign in')
    .requiredOption('--organization <id>', 'the dealer the user works for, org_…')
    .requiredOption('--name <name>', 'the name, 1 to 500 characters')
    .requiredOption('--email <email>', 'the address to sign in with; no other user may have it')
    .addOption(new Option('--password <password>', 'the password, 10 to 128 characters').conflicts('passwordStdin'))
    .option('--password-stdin', 'read the password from standard input, up to the first line break')
    .addHelpText('after', EXAMPLES);
  shell.run(create, async (options: Options) => {
    const given = options.passwordStdin ? firstLine(await shell.readInput()) : options.password;
    const password = given ?? randomBase62(GENERATED_PASSWORD_LENGTH);
    const { organization: organizationId, name, email } = options;
    const user = await shell.withDatabase((db) =>
      createUser(db, COMMAND_LINE, { organizationId, name, email, password }),
    );
    const isShown = given === undefined;
    return {
      json: {
        object: 'user',
        id: user.id,
        organization_id: organizationId,
        name: user.name,
        email: user.email,
        ...(isShown ? { password } : {}),
      },
      text: `User created.${isShown ? ' The password is shown this once.' : ''}\n${fields([
        ['id', user.id],
        ['name', user.name],
        ['email', user.email],
        ...(isShown ? [['password', password] as [string, string]] : []),
      ])}`,
    };
  });
}

function firstLine(text: string): string {
  return text.split(/\r?\n/, 1)[0] ?? '';
}
