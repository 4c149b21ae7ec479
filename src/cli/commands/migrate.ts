import type { Command } from 'commander';
import { migrate } from '../../db/migrate.ts';
import type { Shell } from '../shell.ts';

const EXAMPLE = `
Example:
  $ DATABASE_URL=postgresql://… SECRET_KEYS=… npm run -s crownwheel -- migrate

The service does the same when it starts. Several may do it at once: one works and the others wait.`;

export function addMigrate(program: Command, shell: Shell): void {
  const command = program
    .command('migrate')
    .description("migrate the database's schema to this release")
    .addHelpText('after', EXAMPLE);
  shell.run(command, async () =>
    shell.withConnection(
      async ({ db }) => {
        const applied = await migrate(db, shell.onProgress);
        return {
          json: { object: 'migration', applied },
          text: applied.length === 0 ? 'The schema is up to date.' : `Applied: ${applied.join(', ')}`,
        };
      },
      { createsDatabase: true },
    ),
  );
}
