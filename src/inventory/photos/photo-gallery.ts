import type { Readable } from 'node:stream';
import { createSingleFlight } from '../../concurrency/single-flight.ts';
import { isId } from '../../contract/ids.ts';
import type { Queryable } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { PHOTO_EXTENSIONS, type PhotoExtension, type PhotoFileName, type PhotoFiles } from './photo-files.ts';
import { EXTENSION_OF, FORMAT_OF, type PhotoFormat, renderPhoto } from './photo-variants.ts';

/** What a photo's public address names: `pho_….webp` or `pho_…-square.webp`. */
export type PhotoName = { photoId: string; isSquare: boolean; extension: PhotoExtension };

export type PhotoGallery = {
  /** Null if there is no such photo, or none in such a format. */
  find(name: PhotoName): Promise<FoundPhoto | null>;
  /** Null if its file is lost. */
  open(photo: FoundPhoto): Promise<OpenedPhoto | null>;
};

export type FoundPhoto = PhotoName & {
  /** In which the photo was stored, and in which it is asked for. */
  storedFormat: PhotoFormat;
  format: PhotoFormat;
};
export type OpenedPhoto = { body: Readable | Buffer; size: number };

const NAME = new RegExp(`^(pho_\\w{26})(-square)?\\.(${PHOTO_EXTENSIONS.join('|')})$`);

/** Null for everything that no photo could ever have as its name. */
export function parsePhotoName(text: string): PhotoName | null {
  const [, photoId = '', square, extension] = NAME.exec(text) ?? [];
  if (!isId('photo', photoId)) return null;
  return { photoId, isSquare: square !== undefined, extension: extension as PhotoExtension };
}

/**
 * The photos as clients see them. Formats other than the stored one, and thumbnails, are made when somebody first asks
 * for them, once however many ask at the same time, and kept.
 */
export function createPhotoGallery(
  db: Queryable,
  files: PhotoFiles,
  onFault: (error: unknown, message: string) => void,
): PhotoGallery {
  const makeOnce = createSingleFlight<Buffer | null>();

  async function make(photo: FoundPhoto, file: PhotoFileName): Promise<Buffer | null> {
    const { photoId, storedFormat } = photo;
    // A photo of the demo is a drawing until somebody looks at it.
    const source =
      (await files.read(photoId, `original.${EXTENSION_OF[storedFormat]}`)) ??
      (await files.read(photoId, 'original.svg'));
    if (source === null) {
      onFault(new Error(`${photoId} has no file`), 'the file of a photo is missing');
      return null;
    }
    const bytes = await renderPhoto(source, photo);
    // A picture that can't be kept can still be shown.
    await files.write(photoId, file, bytes).catch((error: unknown) => onFault(error, 'a photo could not be kept'));
    return bytes;
  }

  return {
    async find(name) {
      const [row] = await db.query<{ format: PhotoFormat }>(sql`
        select format from photos where id = ${name.photoId}`);
      // PNG is only ever an original: no channel can ask for it otherwise.
      if (row === undefined || (name.extension === 'png' && row.format !== 'png')) return null;
      return { ...name, storedFormat: row.format, format: FORMAT_OF[name.extension] };
    },
    async open(photo) {
      const whole = photo.storedFormat === photo.format ? 'original' : 'full';
      const file: PhotoFileName = `${photo.isSquare ? 'square' : whole}.${photo.extension}`;
      const opened = await files.open(photo.photoId, file);
      if (opened !== null) return { body: opened.stream, size: opened.size };
      const bytes = await makeOnce(`${photo.photoId}/${file}`, () => make(photo, file));
      return bytes === null ? null : { body: bytes, size: bytes.length };
    },
  };
}
