import { chmodSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip, constants as zlib } from 'node:zlib';
import { build } from 'vite';
import { DIST_DIR, HASH_FILE, isBuildCurrent, sourceHash } from './build-state.ts';

/**
 * Builds the pages into dist/ and compresses what compresses, once and well, so that serving costs no time. Run by
 * `postinstall`, by `npm start` and by the tests; it does nothing if dist/ was made from the same sources.
 */
const COMPRESSED = /\.(js|css|svg|html)$/;

if (!isBuildCurrent()) await buildDashboard();

async function buildDashboard(): Promise<void> {
  // Taken before the build: a file that changes meanwhile makes the next start build again.
  const hash = sourceHash();
  // Made aside and moved, so that two builds at a time or a kill never leave half a folder.
  const staging = mkdtempSync(`${DIST_DIR}-`);
  // The service may run as another user than the one who installed it.
  chmodSync(staging, 0o755);
  try {
    await build({
      configFile: join(import.meta.dirname, 'vite.config.ts'),
      logLevel: 'warn',
      build: { outDir: staging, emptyOutDir: true },
    });
    await compressFiles(staging);
    writeFileSync(join(staging, HASH_FILE), `${hash}\n`);
    rmSync(DIST_DIR, { recursive: true, force: true });
    renameSync(staging, DIST_DIR);
  } catch (error) {
    rmSync(staging, { recursive: true, force: true });
    // Another process was faster, with the same sources.
    if (!isBuildCurrent()) throw error;
  }
}

async function compressFiles(dir: string): Promise<void> {
  const names = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((name) => COMPRESSED.test(name));
  await Promise.all(
    names.map(async (name) => {
      const path = join(dir, name);
      const content = readFileSync(path);
      const [brotli, gzipped] = await Promise.all([
        promisify(brotliCompress)(content, { params: { [zlib.BROTLI_PARAM_QUALITY]: zlib.BROTLI_MAX_QUALITY } }),
        promisify(gzip)(content, { level: zlib.Z_BEST_COMPRESSION }),
      ]);
      writeFileSync(`${path}.br`, brotli);
      writeFileSync(`${path}.gz`, gzipped);
    }),
  );
}
