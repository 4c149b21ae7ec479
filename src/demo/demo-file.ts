import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { giveToFolderOwner } from '../db/embedded/data-folder.ts';
import { StartError } from '../db/start-error.ts';

export const DEMO_EMAIL = 'demo@crownwheel.example';
export const LIVE_NAME = 'Main website';

/** What was made as demo data, kept so that every start can show it. Only its owner may read it: it holds keys. */
export type DemoFile = {
  email: string;
  password: string;
  /** What the account had when the password last opened it; earlier releases did not note it. */
  password_hash?: string;
  live: { integration_id: string; api_key: string };
  test: { integration_id: string; api_key: string };
};

/** Null if there is none, or if somebody made it unreadable. */
export function readDemoFile(dataDir: string): DemoFile | null {
  try {
    const parsed = JSON.parse(readFileSync(pathIn(dataDir), 'utf8')) as DemoFile;
    const texts = [parsed.email, parsed.password, parsed.live.integration_id, parsed.live.api_key];
    const isWhole = [...texts, parsed.test.integration_id, parsed.test.api_key].every(
      (text) => typeof text === 'string',
    );
    return isWhole ? parsed : null;
  } catch {
    return null;
  }
}

export function writeDemoFile(dataDir: string, content: DemoFile): void {
  const path = pathIn(dataDir);
  const aside = `${path}.new`;
  try {
    writeFileSync(aside, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
    giveToFolderOwner(resolve(dataDir), aside);
    renameSync(aside, path);
  } catch (error) {
    throw new StartError(`${path} cannot be written: ${(error as Error).message}`);
  }
}

function pathIn(dataDir: string): string {
  return join(dataDir, 'demo.json');
}
