import { Argument, type Command, Option } from 'commander';
import { COMMAND_LINE, type TeamRole } from '../../audit/actor.ts';
import { notFound } from '../../dealers/input-rules.ts';
import { findOrganization, type ListPage } from '../../dealers/organizations.ts';
import { linkUrl, makeResetLink } from '../../dealers/users/invitations-and-resets.ts';
import { unlockAccount } from '../../dealers/users/sign-in-attempts.ts';
import { changeRole, listMembersPage, type Member, removeMember } from '../../dealers/users/team.ts';
import { changeEmail, createUser, findUserByEmail } from '../../dealers/users/users.ts';
import { randomBase62 } from '../../ids/new-id.ts';
import { restartConfirmation } from '../../notifications/mail-subscriptions.ts';
import { fields, table } from '../plain-text.ts';
import type { Shell } from '../shell.ts';
import { listPage, pageOptions } from './list-page.ts';

const EXAMPLES = `
Examples:
  $ npm run -s crownwheel -- user create --organization org_… --name "Dana" --email dana@example.com
  $ printf '%s' "$PASSWORD" | npm run -s crownwheel -- user create --organization org_… --name "Dana" \\
      --email dana@example.com --password-stdin

  $ npm run -s crownwheel -- user list --organization org_…
  $ npm run -s crownwheel -- user email dana@example.com dana@lindqvist.example
  $ npm run -s crownwheel -- user role dana@example.com staff
  $ npm run -s crownwheel -- user reset-link dana@example.com
  $ npm run -s crownwheel -- user unlock dana@example.com
  $ npm run -s crownwheel -- user remove dana@example.com

Without a password, the command creates one and shows it, only this once. Other users of the machine can see a password that is
given with --password in the list of processes; use --password-stdin to avoid that.`;

const GENERATED_PASSWORD_LENGTH = 20;

type Options = {
  organization: string;
  name: string;
  email: string;
  role: TeamRole;
  password?: string;
  passwordStdin?: boolean;
};

/** A person who works for a dealer and signs in to the dashboard. */
export function addUser(program: Command, shell: Shell): void {
  const noun = program.command('user').description("manage dealers' users").addHelpText('after', EXAMPLES);

  addList(noun, shell);
  addEmail(noun, shell);
  addAccountCommands(noun, shell);

  const create = noun
    .command('create')
    .description('create a user who can sign in')
    .requiredOption('--organization <id>', 'the dealer the user works for, org_…')
    .requiredOption('--name <name>', 'the name, 1 to 500 characters')
    .requiredOption('--email <email>', 'the address to sign in with; no other user may have it')
    .addOption(new Option('--password <password>', 'the password, 10 to 128 characters').conflicts('passwordStdin'))
    .addOption(new Option('--role <role>', 'what the user may do').choices(['owner', 'staff']).default('owner'))
    .option('--password-stdin', 'read the password from standard input, up to the first line break')
    .addHelpText('after', EXAMPLES);
  shell.run(create, async (options: Options) => {
    const given = options.passwordStdin ? firstLine(await shell.readInput()) : options.password;
    const password = given ?? randomBase62(GENERATED_PASSWORD_LENGTH);
    const { organization: organizationId, name, email, role } = options;
    const user = await shell.withDatabase((db) =>
      createUser(db, COMMAND_LINE, { organizationId, name, email, password, role }),
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
      text: `User created.${isShown ? ' The password is shown only this once.' : ''}\n${fields([
        ['id', user.id],
        ['name', user.name],
        ['email', user.email],
        ...(isShown ? [['password', password] as [string, string]] : []),
      ])}`,
    };
  });
}

function addList(noun: Command, shell: Shell): void {
  const list = pageOptions(
    noun
      .command('list')
      .description("list a dealer's users")
      .requiredOption('--organization <id>', 'the dealer, org_…'),
  ).addHelpText('after', '\nExample:\n  $ npm run -s crownwheel -- user list --organization org_… --json');
  shell.run(list, (options: ListPage & { organization: string }) =>
    shell.withDatabase(async (db) => {
      const { organization: organizationId, ...page } = options;
      if ((await findOrganization(db, organizationId)) === null) throw notFound('organization', organizationId);
      return await listPage(page, (wanted) => listMembersPage(db, organizationId, wanted), {
        json: (member) => memberJson(organizationId, member),
        text: memberTable,
        none: 'No users yet; make one with "user create".',
      });
    }),
  );
}

function addEmail(noun: Command, shell: Shell): void {
  const command = noun
    .command('email')
    .description(
      'change the address that a user signs in with; password and sessions stay, mail waits until the user confirms it',
    )
    .argument('<old>', 'the address that the user signs in with')
    .argument('<new>', 'the new address; no other user may have it')
    .addHelpText(
      'after',
      '\nExample:\n  $ npm run -s crownwheel -- user email dana@example.com dana@lindqvist.example',
    );
  shell.run(command, async (oldEmail: string, newEmail: string) => {
    const changed = await shell.withDatabase(async (db) => {
      const found = await findUserByEmail(db, oldEmail);
      const email = await db.transaction(async (tx) => {
        const stored = await changeEmail(tx, COMMAND_LINE, found, newEmail);
        await restartConfirmation(tx, found, null);
        return stored;
      });
      return { ...found, email };
    });
    const { userId: id, organizationId, email } = changed;
    return {
      json: { object: 'user', id, organization_id: organizationId, email },
      text: `The user signs in with ${email} now. Mail goes there after the user has confirmed the address.`,
    };
  });
}

function memberJson(organizationId: string, member: Member): Record<string, unknown> {
  return {
    object: 'user',
    id: member.id,
    organization_id: organizationId,
    name: member.name,
    email: member.email,
    role: member.role,
    created_at: member.createdAt.toISOString(),
    last_seen_at: member.lastSeenAt?.toISOString() ?? null,
  };
}

function memberTable(members: Member[]): string {
  return table(
    ['ID', 'ROLE', 'LAST SEEN', 'EMAIL', 'NAME'],
    members.map(({ id, role, lastSeenAt, email, name }) => [id, role, lastSeenAt?.toISOString() ?? '–', email, name]),
  );
}

/** Each takes the user by email, which is what people know. */
function addAccountCommands(noun: Command, shell: Shell): void {
  const role = noun
    .command('role')
    .description('set the role of a user, owner or staff; takes effect with the next request')
    .argument('<email>', 'the address that the user signs in with')
    .addArgument(new Argument('<role>', 'owner or staff').choices(['owner', 'staff']))
    .addHelpText('after', '\nExample:\n  $ npm run -s crownwheel -- user role dana@example.com staff');
  shell.run(role, async (email: string, name: TeamRole) => {
    const member = await shell.withDatabase(async (db) => {
      return await changeRole(db, COMMAND_LINE, await findUserByEmail(db, email), name);
    });
    const json = { object: 'user', id: member.id, email: member.email, role: member.role };
    return { json, text: `${member.email} is ${member.role} now.` };
  });

  const resetLink = noun
    .command('reset-link')
    .description('create a one-time link for a user to set a new password')
    .argument('<email>', 'the address that the user signs in with')
    .addHelpText('after', '\nExample:\n  $ npm run -s crownwheel -- user reset-link dana@example.com');
  shell.run(resetLink, async (email: string) => {
    const link = await shell.withDatabase(async (db) => {
      return await makeResetLink(db, COMMAND_LINE, await findUserByEmail(db, email));
    });
    const url = linkUrl(shell.readSettings().publicUrl, 'reset', link.token);
    return {
      json: { object: 'reset_link', url, expires_at: link.expiresAt.toISOString() },
      text: `Send this link to the user. It works once, until ${link.expiresAt.toISOString()}.\n${url}`,
    };
  });

  const unlock = noun
    .command('unlock')
    .description('unlock a user who is locked after too many failed sign-ins')
    .argument('<email>', 'the address that the user signs in with')
    .addHelpText('after', '\nExample:\n  $ npm run -s crownwheel -- user unlock dana@example.com');
  shell.run(unlock, async (email: string) => {
    const wasCounted = await shell.withDatabase(async (db) => {
      await findUserByEmail(db, email);
      return await unlockAccount(db, email);
    });
    return {
      json: { object: 'user', email, unlocked: wasCounted },
      text: wasCounted ? `${email} can sign in again.` : `There were no failed attempts of ${email}.`,
    };
  });

  const remove = noun
    .command('remove')
    .description(
      'remove a user; the address is free for another one, as when a dealer has invited it without its owner',
    )
    .argument('<email>', 'the address that the user signs in with')
    .addHelpText('after', '\nExample:\n  $ npm run -s crownwheel -- user remove dana@example.com');
  shell.run(remove, async (email: string) => {
    const user = await shell.withDatabase(async (db) => {
      const found = await findUserByEmail(db, email);
      await removeMember(db, COMMAND_LINE, found);
      return found;
    });
    return {
      json: { object: 'user', id: user.userId, email, removed: true },
      text: `${email} is removed. What this person made stays.`,
    };
  });
}

function firstLine(text: string): string {
  return text.split(/\r?\n/, 1)[0] ?? '';
}
