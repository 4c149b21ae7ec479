import { createSingleFlight } from '../concurrency/single-flight.ts';
import type { Config } from '../config.ts';
import type { Queryable } from '../db/database.ts';
import type { StorageLimits } from '../inventory/photos/storage/limited-files.ts';
import type { PhotoFiles } from '../inventory/photos/storage/photo-files.ts';
import { PhotoStorageError } from '../inventory/photos/storage/photo-storage-error.ts';
import { claimStorage } from '../inventory/photos/storage/photo-storage-owner.ts';
import { checkPhotoFiles, isPrivateStorage, photoFilesOf, STORAGE_WARNINGS } from './photo-storage.ts';

/** The storage of photos as the service uses it: also one that does not answer when the service starts. */
export type ClaimedPhotoStorage = {
  /**
   * Nothing is written before it is known whose the storage is. Otherwise the first photo in an empty storage would make it one
   * that is no longer empty and still nobody's.
   */
  files: PhotoFiles;
  /** Marks a storage that has no owner yet. One that does not answer is asked again in the background. */
  claim(): Promise<void>;
  stop(): void;
};

type Options = {
  onWarning: (message: string, error?: unknown) => void;
  onNotice: (message: string) => void;
  /** Tests shorten them. */
  retryMs?: number;
  limits?: Partial<StorageLimits>;
};

const RETRY_MS = 10_000;
const SILENT = 'the storage of photos does not answer: photos and uploads answer 503 until it does';
const UNMARKED = 'the storage of photos could not be marked';

/**
 * Opens the storage and checks it. One that refuses, as with a wrong key, ends the start; one that does not answer is a
 * warning, since everything but photos works without it.
 */
export async function openClaimedPhotoStorage(
  config: Config,
  db: Queryable,
  { onWarning, onNotice, retryMs = RETRY_MS, limits }: Options,
): Promise<ClaimedPhotoStorage> {
  const files = await photoFilesOf(config, limits);
  const claimOnce = createSingleFlight<void>();
  let isSilent = false;
  let isClaimed = false;
  let isStopped = false;
  let retry: NodeJS.Timeout | undefined;

  async function check(): Promise<void> {
    try {
      await checkPhotoFiles(config, files);
    } catch (error) {
      if (!isTemporary((error as Error).cause)) throw error;
      isSilent = true;
      onWarning(SILENT, error);
    }
  }

  /** The service still uses a storage of another database: it serves and adds photos, and never removes any. */
  async function tryToClaim(): Promise<void> {
    try {
      const owner = await claimStorage(db, files, { isPrivate: isPrivateStorage(config) });
      if (owner !== 'ours') onWarning(STORAGE_WARNINGS[owner]);
    } catch (error) {
      if (!(error instanceof PhotoStorageError) || error.isTemporary) throw error;
      onWarning(UNMARKED, error);
    }
    isClaimed = true;
    if (isSilent) onNotice('the storage of photos answers');
    isSilent = false;
  }

  const assertClaimed = async () => {
    if (!isClaimed) await claimOnce('', tryToClaim);
  };

  function claimLater(): void {
    if (isStopped) return;
    retry = setTimeout(() => assertClaimed().catch(claimLater), retryMs).unref();
  }

  await check();
  return {
    files: {
      ...files,
      async write(...args) {
        await assertClaimed();
        await files.write(...args);
      },
    },
    async claim() {
      if (isSilent) return claimLater();
      await assertClaimed().catch((error: unknown) => {
        isSilent = isTemporary(error);
        onWarning(isSilent ? SILENT : UNMARKED, error);
        claimLater();
      });
    },
    stop() {
      isStopped = true;
      clearTimeout(retry);
    },
  };
}

function isTemporary(error: unknown): boolean {
  return error instanceof PhotoStorageError && error.isTemporary;
}
