import type { ApiVersion } from '../contract/versions.ts';
import type { Database } from '../db/database.ts';
import type { NotifyDashboards } from '../live/change-feed.ts';
import type { CommitClaims } from '../webhooks/delivery-queue/claim-at-commit.ts';

/** The context of every operation that can change a channel. */
export type ChannelContext = {
  db: Database;
  /** The time, where a test owns it; null takes the database's, so that all nodes share one clock. */
  now: () => Date | null;
  publicUrl: string;
  versions: readonly ApiVersion[];
  /**
   * Called after a commit with the integrations that have new events. Wakes the delivery workers, unless it is known that
   * the commit left nothing in their queue.
   */
  onEvents: (integrationIds: string[], isAnyQueued?: boolean) => void;
  /** If this process sends webhooks: lets a transaction claim the deliveries that it writes. */
  claimAtCommit?: () => CommitClaims | null;
  /** Notifies open dashboards of what changed, after the commit. Of what a new event implies they are notified anyway. */
  notifyDashboards?: NotifyDashboards;
  /** Called after a commit with the photos that are gone, so that their files go too; whatever is missed is swept later. */
  onPhotosRemoved?: (photoIds: string[]) => void;
};
