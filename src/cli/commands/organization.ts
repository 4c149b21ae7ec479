import { Argument, type Command } from 'commander';
import { type Actor, COMMAND_LINE } from '../../audit/actor.ts';
import { STORAGE_QUOTA_MAX_MB_PER_DAY } from '../../contract/limits.ts';
import type { Database } from '../../db/database.ts';
import { StartError } from '../../db/start-error.ts';
import { deleteOrganization } from '../../dealers/deletions.ts';
import { notFound } from '../../dealers/input-rules.ts';
import {
  createOrganization,
  findOrganization,
  type ListPage,
  listOrganizations,
  type Organization,
  setOrganizationStorageQuota,
  setPlan,
  setProvisioned,
} from '../../dealers/organizations.ts';
import { fields, table } from '../plain-text.ts';
import type { CommandOutput, Shell } from '../shell.ts';
import { listPage, pageOptions } from './list-page.ts';
import { parseNumberOrDefault } from './option-values.ts';

const EXAMPLES = `
Examples:
  $ npm run -s crownwheel -- organization create --name "Lindqvist & Daughters" --currency CHF
  $ npm run -s crownwheel -- organization list --json
  $ npm run -s crownwheel -- organization plan org_… off
  $ npm run -s crownwheel -- organization delete org_… --yes`;

/** A dealer: owns users and integrations. */
export function addOrganization(program: Command, shell: Shell): void {
  const noun = program
    .command('organization')
    .description('manage dealers: create, list and delete them, switch their plan or account')
    .addHelpText('after', EXAMPLES);

  const create = noun
    .command('create')
    .description('create a dealer')
    .requiredOption('--name <name>', "the dealer's name, 1 to 500 characters")
    .option('--currency <code>', "the currency of the dealer's own prices", 'USD')
    .option('--time-zone <name>', 'where the dealer is, such as Europe/Zurich: promotions begin and end there', 'UTC')
    .option('--no-plan', 'without the plan that includes the custom integration')
    .addHelpText(
      'after',
      `\nExample:\n  $ npm run -s crownwheel -- organization create --name "Lindqvist & Daughters"`,
    );
  type Options = { name: string; currency: string; timeZone: string; plan: boolean };
  shell.run(create, async ({ plan: hasPlan, ...input }: Options) => {
    const organization = await shell.withDatabase((db) => createOrganization(db, COMMAND_LINE, { ...input, hasPlan }), {
      createsDatabase: true,
    });
    return answer('Organization created.', organization);
  });

  const list = pageOptions(noun.command('list').description('list all dealers')).addHelpText(
    'after',
    '\nExample:\n  $ npm run -s crownwheel -- organization list --limit 20 --json',
  );
  shell.run(list, (page: ListPage) =>
    shell.withDatabase((db) =>
      listPage(page, (wanted) => listOrganizations(db, wanted), {
        json: organizationJson,
        text: organizationTable,
        none: 'No organizations yet; make one with "organization create".',
      }),
    ),
  );

  addSwitch(noun, shell, {
    verb: 'plan',
    description: 'switch the plan: without it every request answers 403 subscription_required',
    change: setPlan,
    done: { on: 'The plan is on.', off: 'The plan is off.' },
  });
  addSwitch(noun, shell, {
    verb: 'provision',
    description: 'switch the account: while off every request answers 403 integration_not_provisioned',
    change: setProvisioned,
    done: { on: 'The account is set up.', off: 'The account is switched off.' },
  });
  addStorageQuota(noun, shell);
  addDelete(noun, shell);
}

function addStorageQuota(noun: Command, shell: Shell): void {
  const command = noun
    .command('storage-quota')
    .description('set how many megabytes its people may store in a UTC day by the dashboard')
    .argument('<id>', 'the organization, org_…')
    .addArgument(
      new Argument(
        '<megabytes>',
        `a whole number from 1 to ${STORAGE_QUOTA_MAX_MB_PER_DAY}, or "default" for DASHBOARD_STORAGE_QUOTA_MB_PER_DAY`,
      ).argParser(parseNumberOrDefault),
    )
    .addHelpText('after', '\nExample:\n  $ npm run -s crownwheel -- organization storage-quota org_… 204800');
  shell.run(command, async (id: string, megabytes: string) =>
    shell.withDatabase(async (db) => {
      await setOrganizationStorageQuota(db, COMMAND_LINE, id, megabytes === 'default' ? null : Number(megabytes));
      const organization = await findOrganization(db, id);
      if (organization === null) throw notFound('organization', id);
      return answer('The storage quota is set.', organization);
    }),
  );
}

function addDelete(noun: Command, shell: Shell): void {
  const command = noun
    .command('delete')
    .description('delete a dealer for ever: keys and sign-ins stop working at once, and a worker removes the data')
    .argument('<id>', 'the organization, org_…')
    .option('--yes', 'confirm the deletion')
    .addHelpText('after', '\nExample:\n  $ npm run -s crownwheel -- organization delete org_… --yes');
  shell.run(command, async (id: string, { yes }: { yes?: boolean }) => {
    if (yes !== true) throw new StartError(`this deletes ${id} with all its data for good; add --yes if you mean it`);
    return await shell.withChannel(async ({ context, deletionNote }) => {
      if (!(await deleteOrganization(context.db, COMMAND_LINE, id))) throw notFound('organization', id);
      return {
        json: { object: 'organization', id, deleted: true },
        text: `The organization ${id} is deleted: its keys are unknown, its users are signed out. ${deletionNote(id)}`,
      };
    });
  });
}

type Switch = {
  verb: string;
  description: string;
  change: (db: Database, actor: Actor, id: string, isOn: boolean) => Promise<boolean>;
  done: { on: string; off: string };
};

function addSwitch(noun: Command, shell: Shell, { verb, description, change, done }: Switch): void {
  const command = noun
    .command(verb)
    .description(description)
    .argument('<id>', 'the organization, org_…')
    .addArgument(new Argument('<state>', 'on or off; takes effect with the next request').choices(['on', 'off']))
    .addHelpText('after', `\nExample:\n  $ npm run -s crownwheel -- organization ${verb} org_… off`);
  shell.run(command, async (id: string, state: 'on' | 'off') =>
    shell.withDatabase(async (db) => {
      await change(db, COMMAND_LINE, id, state === 'on');
      const organization = await findOrganization(db, id);
      if (organization === null) throw notFound('organization', id);
      return answer(done[state], organization);
    }),
  );
}

function answer(line: string, organization: Organization): CommandOutput {
  return {
    json: organizationJson(organization),
    text: `${line}\n${fields([
      ['id', organization.id],
      ['name', organization.name],
      ['currency', organization.currency],
      ['provisioned', organization.isProvisioned],
      ['plan', organization.hasIntegrationPlan],
      ['storage quota', organization.storageQuotaMb === null ? 'default' : `${organization.storageQuotaMb} MB a day`],
    ])}`,
  };
}

function organizationJson(organization: Organization): Record<string, unknown> {
  return {
    object: 'organization',
    id: organization.id,
    name: organization.name,
    currency: organization.currency,
    is_provisioned: organization.isProvisioned,
    has_integration_plan: organization.hasIntegrationPlan,
    storage_quota_mb: organization.storageQuotaMb,
  };
}

function organizationTable(organizations: Organization[]): string {
  return table(
    ['ID', 'PROVISIONED', 'PLAN', 'NAME'],
    organizations.map((row) => [row.id, row.isProvisioned, row.hasIntegrationPlan, row.name]),
  );
}
