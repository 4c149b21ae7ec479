import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Logger } from 'pino';
import { DIST_DIR, isBuildCurrent } from '../../../dashboard/build-state.ts';
import type { Config } from '../../config.ts';
import { loadPageFiles, type PageFiles } from '../../http/dashboard/static/page-files.ts';

const BUILD_SCRIPT = join(DIST_DIR, '..', 'build.ts');
const BUILD_LIMIT_MS = 300_000;

/** The pages of the dashboard: those that were built with the sources at hand, or null until they are. */
export type DashboardPages = { get(): PageFiles | null; ready: Promise<void> };

/** In parallel with the start of the database: the API does not wait for the dashboard's build. */
export function openPages(settings: Config, log: Logger, signal: AbortSignal): DashboardPages | null {
  if (!settings.roles.includes('dashboard')) return null;
  return openDashboardPages(settings.publicUrl, {
    signal,
    onProgress: (message) => console.log(message),
    onFault: (error) => log.error({ err: error }, 'the dashboard could not be built'),
  });
}

/**
 * Gives the pages as they were built by the installation. If the sources have changed since, or the installation ran no
 * scripts, they are built now, in a process of their own beside the start of the database.
 */
export function openDashboardPages(
  publicUrl: string,
  options: { onProgress: (message: string) => void; onFault: (error: unknown) => void; signal: AbortSignal },
): DashboardPages {
  const basePath = new URL(publicUrl).pathname.replace(/\/+$/, '');
  let pages: PageFiles | null = null;
  async function open(): Promise<void> {
    if (!isBuildCurrent()) {
      options.onProgress('Building the dashboard …');
      const startedAt = Date.now();
      const limits = { timeout: BUILD_LIMIT_MS, signal: options.signal };
      await promisify(execFile)(process.execPath, [BUILD_SCRIPT], limits);
      options.onProgress(`The dashboard is ready (built in ${((Date.now() - startedAt) / 1000).toFixed(1)} s).`);
    }
    pages = loadPageFiles(DIST_DIR, basePath);
  }
  return {
    get: () => pages,
    ready: open().catch((error: unknown) => {
      if (!options.signal.aborted) options.onFault(error);
    }),
  };
}
