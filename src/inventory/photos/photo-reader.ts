import { Readable } from 'node:stream';
import { createKeyedSemaphore } from '../../concurrency/limits/keyed-semaphore.ts';
import { isId } from '../../contract/ids.ts';
import type { Queryable } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { createVariantMaker } from './make-variants.ts';
import type { PhotoSize } from './photo-memory.ts';
import {
  FORMAT_OF,
  PHOTO_EXTENSIONS,
  type PhotoExtension,
  type PhotoFileName,
  type PhotoFormat,
  SQUARE_NAMES,
  type SquareName,
} from './photo-variants.ts';
import { type FileStat, type PhotoFiles, statOriginal } from './storage/photo-files.ts';

/** What a photo's public address names: `pho_….webp`, `pho_…-square.webp` or `pho_…-small.webp`. */
export type PhotoName = { photoId: string; square: SquareName | null; extension: PhotoExtension };

export type PhotoReader = {
  /** Null if there is no such photo, or none in such a format. */
  find(name: PhotoName, visitor: Visitor): Promise<FoundPhoto | null>;
  /** Null if its file is lost. A variant that is not made yet is waited for. */
  open(photo: FoundPhoto, visitor: Visitor): Promise<OpenedPhoto | null>;
  /** What `open` would give, without reading or making anything. */
  stat(photo: FoundPhoto, visitor: Visitor): Promise<FileStat | null>;
};

export type Visitor = {
  /** Of the visitor's address; the visitors of one network share lookups, reads and variants. */
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
export type OpenedPhoto = FileStat & {
  body: Readable;
  /** Lets the next visitor read; for when the answer is sent or cut. */
  release(): void;
};

const NAME = new RegExp(`^(pho_\\w{26})(?:-(${SQUARE_NAMES.join('|')}))?\\.(${PHOTO_EXTENSIONS.join('|')})$`);

/** Null for everything that no photo could ever have as its name. */
export function parsePhotoName(text: string): PhotoName | null {
  const [, photoId = '', square, extension] = NAME.exec(text) ?? [];
  if (!isId('photo', photoId)) return null;
  return { photoId, square: (square as SquareName | undefined) ?? null, extension: extension as PhotoExtension };
}

/**
 * How long a visitor waits for a connection, for its turn among those who read, and for memory to make a variant; and how long
 * the place stays taken of one who left before that.
 */
export type PhotoWaits = { lookupWaitMs?: number; readWaitMs?: number; memoryWaitMs?: number; restMs?: number };

/** Longer than a visitor's browser waits. */
const MEMORY_WAIT_MS = 20_000;
const READ_WAIT_MS = 20_000;
const REST_MS = 250;
/** How many of the connections that the API uses, too, photos may take. */
const LOOKUPS_AT_ONCE = 2;
/** Nobody has to say who they are to ask for a photo, so those of one network leave the others their half. */
const LOOKUPS_AT_ONCE_PER_NETWORK = 1;
const LOOKUPS_WAITING_MAX = 1_000;
const LOOKUPS_WAITING_MAX_PER_NETWORK = 250;
const LOOKUP_WAIT_MS = 5_000;
/** Each holds a connection to the storage, or an open file, until its client has read the photo or is cut for being slow. */
const READS_AT_ONCE = 256;
const READS_AT_ONCE_PER_NETWORK = 32;
const READS_WAITING_MAX = 1_000;
const READS_WAITING_MAX_PER_NETWORK = 250;

/**
 * The photos as clients see them. Formats other than the stored one, and thumbnails, are made when somebody first asks
 * for them, once however many ask at the same time, and kept.
 */
export function createPhotoReader(
  db: Queryable,
  files: PhotoFiles,
  onFault: (error: unknown, message: string) => void,
  waits: PhotoWaits = {},
): PhotoReader {
  const { lookupWaitMs = LOOKUP_WAIT_MS, readWaitMs = READ_WAIT_MS } = waits;
  const { memoryWaitMs: waitMs = MEMORY_WAIT_MS, restMs = REST_MS } = waits;
  const makeVariant = createVariantMaker(db, files, onFault, { waitMs, restMs });
  const lookups = createKeyedSemaphore({
    total: LOOKUPS_AT_ONCE,
    perKey: LOOKUPS_AT_ONCE_PER_NETWORK,
    waitingTotal: LOOKUPS_WAITING_MAX,
    waitingPerKey: LOOKUPS_WAITING_MAX_PER_NETWORK,
  });
  const reads = createKeyedSemaphore({
    total: READS_AT_ONCE,
    perKey: READS_AT_ONCE_PER_NETWORK,
    waitingTotal: READS_WAITING_MAX,
    waitingPerKey: READS_WAITING_MAX_PER_NETWORK,
  });
  const waitToRead = ({ signal }: Visitor) => ({ deadlineMs: performance.now() + readWaitMs, signal });

  async function openFile(photo: FoundPhoto, file: PhotoFileName, visitor: Visitor): Promise<OpenedPhoto | null> {
    const release = await reads.acquire(visitor.network, waitToRead(visitor));
    const opened = await files.open(photo.photoId, file, visitor.signal).catch((error: unknown) => {
      release();
      throw error;
    });
    if (opened !== null) return { body: opened.stream, size: opened.size, release };
    release();
    return null;
  }

  async function findOriginal(photo: FoundPhoto, visitor: Visitor): Promise<FileStat | null> {
    const find = () => statOriginal(files, photo.photoId, photo.storedFormat, visitor.signal);
    return await reads.run(visitor.network, find, waitToRead(visitor));
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
    async open(photo, visitor) {
      const file = fileOf(photo);
      const opened = await openFile(photo, file, visitor);
      if (opened !== null) return opened;
      const original = await findOriginal(photo, visitor);
      if (original === null) {
        onFault(new Error(`${photo.photoId} has no file`), 'the file of a photo is missing');
        return null;
      }
      const made = await makeVariant(photo, file, original, visitor);
      if (made === null) return null;
      // Sent from its file: a client that reads slowly then holds a buffer of some kilobytes, not the picture.
      if (made === 'kept') return await openFile(photo, file, visitor);
      const release = await reads.acquire(visitor.network, waitToRead(visitor));
      return { body: Readable.from([made], { objectMode: false }), size: made.length, release };
    },
    async stat(photo, visitor) {
      const find = () => files.stat(photo.photoId, fileOf(photo), visitor.signal);
      const made = await reads.run(visitor.network, find, waitToRead(visitor));
      if (made !== null) return made;
      return (await findOriginal(photo, visitor)) === null ? null : { size: null };
    },
  };
}

function fileOf(photo: FoundPhoto): PhotoFileName {
  const whole = photo.storedFormat === photo.format ? 'original' : 'full';
  return `${photo.square ?? whole}.${photo.extension}`;
}
