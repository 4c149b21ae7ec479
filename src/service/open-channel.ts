import type { Logger } from 'pino';
import type { ChannelContext } from '../channel/context.ts';
import { sharesDatabase } from '../config.ts';
import { VERSIONS } from '../contract/versions.ts';
import { migrate } from '../db/migrate.ts';
import { type Demo, prepareDemo } from '../demo/prepare-demo.ts';
import type { PhotoFiles } from '../inventory/photos/storage/photo-files.ts';
import { removePhotoFiles } from '../inventory/photos/storage/photo-storage-owner.ts';
import { type ChangeFeed, createChangeFeed } from '../live/change-feed.ts';
import { channelNotifier } from '../live/notify-dashboards.ts';
import type { DeliveryWorker } from '../webhooks/worker/delivery-worker.ts';
import { createNotifier } from '../webhooks/worker/wake-up.ts';
import type { Connection } from './connect.ts';
import { claimPhotoStorage, openPhotoFiles } from './photo-storage.ts';
import { warnOfLostKeys } from './startup/lost-keys.ts';

/** What every process of the service has, whatever it does: the channel with its photos and its feed of changes. */
export type OpenChannel = {
  channel: ChannelContext;
  feed: ChangeFeed;
  photoFiles: PhotoFiles;
  /** Called when there are new events: the delivery worker of this process, and the notice to other processes. */
  wakers: (() => void)[];
  /** Set once the delivery worker of this process runs. */
  deliveryWorker: { current: Pick<DeliveryWorker, 'claimAtCommit'> | null };
};

export async function openChannel({ config, db }: Connection, log: Logger): Promise<OpenChannel> {
  const photoFiles = await openPhotoFiles(config);
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
  return { channel, feed, photoFiles, wakers, deliveryWorker };
}

/** Makes the tables, looks at keys and photos, and seeds the demo if it is wanted: once in a start. */
export async function prepareData(
  { config, keySource, db, embedded }: Connection,
  { channel, photoFiles }: OpenChannel,
  log: Logger,
): Promise<Demo | null> {
  const say = (message: string) => console.log(message);
  await migrate(db, say);
  await warnOfLostKeys(db, config.secretKeys, keySource, log);
  await claimPhotoStorage(config, db, photoFiles, (message, error) => log.warn({ err: error }, message));
  if (!config.isDemoWanted) return null;
  const dataDir = embedded === null ? null : config.dataDir;
  return await prepareDemo(channel, { liveKey: config.demoApiKey, dataDir, photoFiles, onNotice: say });
}
