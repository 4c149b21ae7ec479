import type { PageFiles } from './page-files.ts';

/** What the dashboard needs beside the options of the whole app. */
export type DashboardOptions = {
  /** Null while the pages are being built. */
  pages: () => PageFiles | null;
};
