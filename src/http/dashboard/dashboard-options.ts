import type { PhotoFiles } from '../../inventory/photos/storage/photo-files.ts';
import type { ChangeFeed } from '../../live/change-feed.ts';
import type { PageFiles } from './static/page-files.ts';

/** What the dashboard needs besides the options of the whole app. */
export type DashboardOptions = {
  /** Null while the pages are being built. */
  pages: () => PageFiles | null;
  /** Whether a new dealer may sign up without an operator. */
  isSignUpOpen: boolean;
  /** Whether the service can send mail. */
  isMailOn: boolean;
  /** Whether webhooks may go to http and private addresses; for development. */
  isPrivateWebhookAllowed: boolean;
  feed: ChangeFeed;
  /** Where uploads go. */
  photoFiles: PhotoFiles;
};
