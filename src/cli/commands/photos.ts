import type { Command } from 'commander';
import { StartError } from '../../db/start-error.ts';
import { countStored, ownerOfStorage, takeStorage } from '../../inventory/photos/storage/photo-storage-owner.ts';
import { openPhotoFiles } from '../../service/photo-storage.ts';
import type { Shell } from '../shell.ts';

const HELP = `
Example:
  $ npm run -s crownwheel -- photos claim --yes

The storage of photos is marked with the id of the installation that uses it. Only that installation removes files. You have to
claim the storage yourself if it is older than these marks, or if its database was restored elsewhere. Claim it only if no other
installation uses it: the service would take the photos of the other one for leftovers and remove them after a day.`;

/** The storage of photos, and whose it is. */
export function addPhotos(program: Command, shell: Shell): void {
  const noun = program.command('photos').description('manage the storage of photos').addHelpText('after', HELP);
  const claim = noun
    .command('claim')
    .description("mark the storage of photos as this installation's, so that leftovers are removed from it")
    .option('--yes', 'confirm that no other installation uses the storage')
    .addHelpText('after', HELP);
  shell.run(claim, async ({ yes }: { yes?: boolean }) =>
    shell.withChannel(async ({ context: { db }, config }) => {
      const files = await openPhotoFiles(config);
      const owner = await ownerOfStorage(db, files);
      const { photos, unknown } = await countStored(db, files);
      const found = `it has ${photos} photos, of which this database does not know ${unknown}`;
      if (owner !== 'ours' && yes !== true) {
        throw new StartError(
          `the storage is ${owner}; ${found}. Those would be removed after a day; add --yes if no other installation uses it`,
        );
      }
      if (owner !== 'ours') await takeStorage(db, files);
      return {
        json: { object: 'photo_storage', owner: 'ours', photos, unknown_photos: unknown },
        text: `The storage is this installation's; ${found}.`,
      };
    }),
  );
}
