import { STORAGE_QUOTA_TIMES } from '../../../contract/dashboard/limits.ts';
import type { DashboardOperation } from '../../../contract/dashboard/operation.ts';
import { secondsOfDayLeft } from '../../../contract/timestamps.ts';
import { countedFiles } from '../../../inventory/photos/storage/counted-files.ts';
import { quotaMessage, type StorageUse, storageCounter } from '../../../quota/storage-usage.ts';
import type { Call, DashboardContext } from '../call.ts';
import { DashboardError, overloaded } from '../dashboard-error.ts';

/**
 * The storage quota of a dealer, over all operations of the dashboard and the jobs that they start. It is checked before a
 * byte of the body is read, against the count that came with the session. The operation that crosses the quota is still
 * done, and so are those that run at the same time.
 */
export function assertStorageQuota({ overQuota }: Pick<DashboardOperation, 'overQuota'>, use: StorageUse): void {
  if (overQuota === 'served' || use.bytes < use.quotaBytes * STORAGE_QUOTA_TIMES[overQuota]) return;
  throw new DashboardError('storage_quota_exceeded', quotaMessage(use), {
    headers: { 'Retry-After': String(secondsOfDayLeft(use.now)) },
  });
}

/** What deletes, fulfils or cancels is served: it stores little, and the reserve is there for it. */
export function assertDiskSpace({ overQuota }: Pick<DashboardOperation, 'overQuota'>, isLow: boolean): void {
  if (!isLow || overQuota === 'served') return;
  throw overloaded(
    'The disk of this service is nearly full. Nothing was changed. Try again later, or tell its operator.',
  );
}

/** What an operation gets that may store something for a dealer: whatever it stores is counted. */
export function countedCall(organizationId: string, context: DashboardContext): CountedCall {
  const { db, channel, dashboard } = context;
  const counter = storageCounter(db, organizationId, channel.now);
  return {
    context: {
      ...context,
      db: counter.countedDb(db),
      channel: { ...channel, db: counter.countedDb(channel.db) },
      dashboard: { ...dashboard, photoFiles: countedFiles(dashboard.photoFiles, counter.count) },
    },
    countStorage: counter.count,
  };
}

/** The same for reads, and for operations without a session. */
export function uncountedCall(context: DashboardContext): CountedCall {
  return { context, countStorage: async () => {} };
}

type CountedCall = Pick<Call, 'context' | 'countStorage'>;
