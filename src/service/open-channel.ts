import type { Logger } from 'pino';
import type { ChannelContext } from '../channel/context.ts';
import { sharesDatabase } from '../config.ts';
import { VERSIONS } from '../contract/versions.ts';
import { migrate } from '../db/migrate.ts';
import { type Demo, prepareDemo } from '../demo/prepare-demo.ts';
import type { PhotoFiles } from '../inventory/photos/storage/photo-files.ts';
import { PhotoStorageError } from '../inventory/photos/storage/photo-storage-error.ts';
import { removePhotoFiles } from '../inventory/photos/storage/photo-storage-owner.ts';
import { type ChangeFeed, createChangeFeed } from '../live/change-feed.ts';
import { channelNotifier } from '../live/notify-dashboards.ts';
import type { DeliveryWorker } from '../webhooks/worker/delivery-worker.ts';
import { createNotifier } from '../webhooks/worker/wake-up.ts';
import { type ClaimedPhotoStorage, openClaimedPhotoStorage } from './claimed-photo-storage.ts';
import type { Connection } from './connect.ts';
import { warnOfLostKeys } from './startup/lost-keys.ts';

/** What every process of the service has, whatever it does: the channel with its photos and its feed of changes. */
export type OpenChannel = {
  channel: ChannelContext;
  feed: ChangeFeed;
  photoFiles: PhotoFiles;
  photoStorage: Pick<ClaimedPhotoStorage, 'claim' | 'stop'>;
  /** Called when there are new events: the delivery worker of this process, and the notice to other processes. */
  wakers: (() => void)[];
  /** Set once the delivery worker of this process runs. */
  deliveryWorker: { current: Pick<DeliveryWorker, 'claimAtCommit'> | null };
};

export async function openChannel({ config, db }: Connection, log: Logger): Promise<OpenChannel> {
  const photoStorage = await openClaimedPhotoStorage(config, db, {
    onWarning: (message, error) => log.warn({ err: error }, message),
    onNotice: (message) => log.info(message),
  });
  const { files: photoFiles } = photoStorage;
  const wakers = sharesDatabase(config) ? [createNotifier(db)] : [];
  const feed = createChangeFeed(db);
  const notifyOfChannels = channelNotifier(db, feed.notify);
  const deliveryWorker: OpenChannel['deliveryWorker'] = { current: null };
  const channel: ChannelContext = {
    db,
    now: () => null,
    publicUrl: config.publicUrl,
    versions: VERSIONS,
    claimAtCommit: () => deliveryWorker.current?.claimAtCommit() ?? null,
    onEvents: (integrationIds, isAnyQueued = true) => {
      if (isAnyQueued) for (const wake of wakers) wake();
      notifyOfChannels(integrationIds);
    },
    notifyDashboards: feed.notify,
    onPhotosRemoved: (photoIds) => {
      removePhotoFiles(db, photoFiles, photoIds).catch((error: unknown) =>
        log.warn({ err: error }, 'files of photos remain'),
      );
    },
  };
  return { channel, feed, photoFiles, photoStorage, wakers, deliveryWorker };
}

/** Makes the tables, looks at keys and photos, and seeds the demo if it is wanted: once in a start. */
export async function prepareData(
  { config, keySource, db, embedded }: Connection,
  { channel, photoFiles, photoStorage }: OpenChannel,
  log: Logger,
): Promise<Demo | null> {
  const say = (message: string) => console.log(message);
  await migrate(db, say);
  await warnOfLostKeys(db, config.secretKeys, keySource, log);
  await photoStorage.claim();
  if (!config.isDemoWanted) return null;
  const dataDir = embedded === null ? null : config.dataDir;
  const options = { liveKey: config.demoApiKey, dataDir, photoFiles, onNotice: say };
  return await prepareDemo(channel, options).catch((error: unknown) => {
    if (!(error instanceof PhotoStorageError)) throw error;
    log.warn({ err: error }, 'there is no demo, since its photos could not be stored; the next start tries again');
    return null;
  });
}
