import type { Readable } from 'node:stream';
import { createKeyedSemaphore } from '../../concurrency/limits/keyed-semaphore.ts';
import { createSingleFlight } from '../../concurrency/single-flight.ts';
import { isId } from '../../contract/ids.ts';
import type { Queryable } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { raiseStorageUsage } from '../../quota/storage-usage.ts';
import { renderPhoto } from './encode-photos.ts';
import { type PhotoSize, variantsFor, withPhotoMemory } from './photo-memory.ts';
import {
  FORMAT_OF,
  originalNames,
  PHOTO_EXTENSIONS,
  type PhotoExtension,
  type PhotoFileName,
  type PhotoFormat,
  SQUARE_NAMES,
  type SquareName,
} from './photo-variants.ts';
import { type FileStat, type PhotoFiles, readOriginal } from './storage/photo-files.ts';

/** What a photo's public address names: `pho_….webp`, `pho_…-square.webp` or `pho_…-small.webp`. */
export type PhotoName = { photoId: string; square: SquareName | null; extension: PhotoExtension };

export type PhotoReader = {
  /** Null if there is no such photo, or none in such a format. */
  find(name: PhotoName, visitor: Visitor): Promise<FoundPhoto | null>;
  /** Null if its file is lost. A variant that is not made yet is waited for. */
  open(photo: FoundPhoto, visitor: Visitor): Promise<OpenedPhoto | null>;
  /** What `open` would give, without reading or making anything. */
  stat(photo: FoundPhoto): Promise<FileStat | null>;
};

export type Visitor = {
  /** Of the visitor's address; the visitors of one network share lookups and variants. */
  network: string;
  /** Ends every wait. */
  signal?: AbortSignal;
};

export type FoundPhoto = PhotoName &
  PhotoSize & {
    /** The format in which the photo was stored, and the one that is asked for. */
    storedFormat: PhotoFormat;
    format: PhotoFormat;
    /** Whose photo it is. */
    organizationId: string;
  };
export type OpenedPhoto = FileStat & { body: Readable | Buffer };

const NAME = new RegExp(`^(pho_\\w{26})(?:-(${SQUARE_NAMES.join('|')}))?\\.(${PHOTO_EXTENSIONS.join('|')})$`);

/** Null for everything that no photo could ever have as its name. */
export function parsePhotoName(text: string): PhotoName | null {
  const [, photoId = '', square, extension] = NAME.exec(text) ?? [];
  if (!isId('photo', photoId)) return null;
  return { photoId, square: (square as SquareName | undefined) ?? null, extension: extension as PhotoExtension };
}

/** How long a visitor waits for a connection, and for memory to make a variant. */
export type PhotoWaits = { lookupWaitMs?: number; memoryWaitMs?: number };

/** Longer than a visitor's browser waits. */
const MEMORY_WAIT_MS = 20_000;
/** How many of the connections that the API uses, too, photos may take. */
const LOOKUPS_AT_ONCE = 2;
/** Nobody has to say who they are to ask for a photo, so those of one network leave the others their half. */
const LOOKUPS_AT_ONCE_PER_NETWORK = 1;
const LOOKUPS_WAITING_MAX = 1_000;
const LOOKUPS_WAITING_MAX_PER_NETWORK = 250;
const LOOKUP_WAIT_MS = 5_000;

/**
 * The photos as clients see them. Formats other than the stored one, and thumbnails, are made when somebody first asks
 * for them, once however many ask at the same time, and kept.
 */
export function createPhotoReader(
  db: Queryable,
  files: PhotoFiles,
  onFault: (error: unknown, message: string) => void,
  { lookupWaitMs = LOOKUP_WAIT_MS, memoryWaitMs = MEMORY_WAIT_MS }: PhotoWaits = {},
): PhotoReader {
  const makeOnce = createSingleFlight<Made | null>();
  const lookups = createKeyedSemaphore({
    total: LOOKUPS_AT_ONCE,
    perKey: LOOKUPS_AT_ONCE_PER_NETWORK,
    waitingTotal: LOOKUPS_WAITING_MAX,
    waitingPerKey: LOOKUPS_WAITING_MAX_PER_NETWORK,
  });

  async function make(photo: FoundPhoto, file: PhotoFileName, signal: AbortSignal): Promise<Made | null> {
    const { photoId } = photo;
    const source = await readOriginal(files, photoId, photo.storedFormat);
    if (source === null) {
      onFault(new Error(`${photoId} has no file`), 'the file of a photo is missing');
      return null;
    }
    // The client may have disconnected while the original was read.
    signal.throwIfAborted();
    const bytes = await renderPhoto(source, photo);
    try {
      // A small upload can have large variants, so they count as what its dealer stores.
      await db.query(raiseStorageUsage(photo.organizationId, bytes.length, null));
      await files.write(photoId, file, bytes);
      return 'kept';
    } catch (error) {
      // A picture that can't be kept can still be shown.
      onFault(error, 'a photo could not be kept');
      return bytes;
    }
  }

  async function openFile(photo: FoundPhoto, file: PhotoFileName): Promise<OpenedPhoto | null> {
    const opened = await files.open(photo.photoId, file);
    return opened === null ? null : { body: opened.stream, size: opened.size };
  }

  return {
    async find(name, { network, signal }) {
      const deadlineMs = performance.now() + lookupWaitMs;
      const [row] = await lookups.run(
        network,
        () =>
          db.query<{ format: PhotoFormat; organizationId: string } & PhotoSize>(sql`
            select format, width, height, organization_id as "organizationId" from photos where id = ${name.photoId}`),
        { deadlineMs, signal },
      );
      // PNG is only ever an original: no channel can ask for it otherwise.
      if (row === undefined || (name.extension === 'png' && row.format !== 'png')) return null;
      const { format: storedFormat, width, height, organizationId } = row;
      return { ...name, storedFormat, format: FORMAT_OF[name.extension], width, height, organizationId };
    },
    async open(photo, { network, signal }) {
      const file = fileOf(photo);
      const opened = await openFile(photo, file);
      if (opened !== null) return opened;
      const deadlineMs = performance.now() + memoryWaitMs;
      // Everything that it needs is read when it has its memory, so that what waits holds none.
      const made = await makeOnce(
        `${photo.photoId}/${file}`,
        (ended) =>
          withPhotoMemory(variantsFor(network), photo, formatsOf(photo), () => make(photo, file, ended), {
            deadlineMs,
            signal: ended,
          }),
        { signal },
      );
      if (made === null) return null;
      // Sent from its file: a client that reads slowly then holds a buffer of some kilobytes, not the picture.
      return made === 'kept' ? await openFile(photo, file) : { body: made, size: made.length };
    },
    async stat(photo) {
      const made = await files.stat(photo.photoId, fileOf(photo));
      if (made !== null) return made;
      const [original, drawing] = originalNames(photo.storedFormat);
      const isThere =
        (await files.stat(photo.photoId, original)) !== null || (await files.stat(photo.photoId, drawing)) !== null;
      return isThere ? { size: null } : null;
    },
  };
}

/** A thumbnail is small, so it costs what decoding costs. */
function formatsOf({ storedFormat, format, square }: FoundPhoto): PhotoFormat[] {
  return square === null ? [storedFormat, format] : [storedFormat];
}

/** The variant is in its file now; or it could not be kept there, and these are its bytes. */
type Made = 'kept' | Buffer;

function fileOf(photo: FoundPhoto): PhotoFileName {
  const whole = photo.storedFormat === photo.format ? 'original' : 'full';
  return `${photo.square ?? whole}.${photo.extension}`;
}
