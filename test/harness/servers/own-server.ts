import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseAddress } from '../../../src/db/connection-settings.ts';
import { openDatabase } from '../../../src/db/database.ts';
import { type EmbeddedDatabase, startEmbedded } from '../../../src/db/embedded/embedded.ts';
import { sql } from '../../../src/db/sql.ts';

/** A PostgreSQL of the test's own, to be stopped, killed and frozen. */
export type OwnServer = {
  address: DatabaseAddress;
  /** Shuts down as an administrator would. It stays down until `start`. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Kills every process at once. With its owner there it comes back by itself. */
  kill(): Promise<void>;
  /** Lets every process stand still: connections stay open and nobody answers. */
  freeze(): Promise<void>;
  thaw(): void;
  remove(): Promise<void>;
};

export async function startOwnServer({ isDurable = false } = {}): Promise<OwnServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'crownwheel-own-'));
  const open = () =>
    startEmbedded({
      dataDir,
      isExclusive: true,
      onProgress: () => {},
      settings: { max_connections: '50', ...(isDurable ? {} : { fsync: 'off', full_page_writes: 'off' }) },
    });
  let server: EmbeddedDatabase = await open();
  const { address } = server;
  let frozen: number[] = [];

  /** The postmaster first, so that it does not replace the children that it sees dying. */
  async function pids(): Promise<number[]> {
    const db = openDatabase({ address, poolSize: 1, onIdleError: () => {} });
    const rows = await db.query<{ pid: number }>(sql`select pid from pg_stat_activity`);
    await db.close();
    const postmaster = await server.pid();
    return [...(postmaster === null ? [] : [postmaster]), ...rows.map((row) => row.pid)];
  }

  function signalAll(targets: number[], signal: NodeJS.Signals): void {
    for (const pid of targets) {
      try {
        process.kill(pid, signal);
      } catch {
        // It has ended by itself, as the backend that listed the others has.
      }
    }
  }

  return {
    address,
    stop: () => server.stop(),
    async start() {
      server = await open();
    },
    async kill() {
      signalAll(await pids(), 'SIGKILL');
    },
    async freeze() {
      frozen = await pids();
      signalAll(frozen, 'SIGSTOP');
    },
    thaw() {
      signalAll(frozen, 'SIGCONT');
      frozen = [];
    },
    async remove() {
      signalAll(frozen, 'SIGCONT');
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
