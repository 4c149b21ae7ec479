import type { Database } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { type Check, ok, warning, wrong } from './check.ts';

const NAME = 'durability';

type Settings = {
  fsync: string;
  full_page_writes: string;
  synchronous_commit: string;
  session_replication_role: string;
  transaction_timeout: string | null;
  is_standby: boolean;
};

/** Whether what the server acknowledges survives a power cut, as seen from one of our own connections. */
export async function checkDurability(db: Database): Promise<Check> {
  const [row] = await db.query<Settings>(sql`
    select current_setting('fsync') as fsync, current_setting('full_page_writes') as full_page_writes,
      current_setting('synchronous_commit') as synchronous_commit,
      current_setting('session_replication_role') as session_replication_role,
      current_setting('transaction_timeout', true) as transaction_timeout, pg_is_in_recovery() as is_standby`);
  if (row === undefined) return wrong(NAME, 'the server does not report its settings', "see the server's log");
  if (row.is_standby) {
    return wrong(NAME, 'the server is a standby, which takes no writes', 'set DATABASE_URL to the primary');
  }
  if (row.fsync !== 'on') {
    return wrong(NAME, 'fsync is off: a power cut can lose or destroy committed data', 'set fsync = on on the server');
  }
  if (row.synchronous_commit === 'off') {
    return wrong(NAME, 'synchronous_commit is off: a crash loses what was just committed', 'set it to on');
  }
  if (row.session_replication_role !== 'origin') {
    return wrong(
      NAME,
      `session_replication_role is ${row.session_replication_role}: foreign keys and triggers do not work`,
      'remove the setting from the role or the database ("alter role … reset session_replication_role")',
    );
  }
  if (row.full_page_writes !== 'on') {
    return warning(
      NAME,
      'full_page_writes is off: a power cut can leave a torn page',
      'set it to on, unless the storage itself writes whole pages of 8 kB',
    );
  }
  if (row.transaction_timeout !== null && row.transaction_timeout !== '0') {
    return warning(
      NAME,
      `transaction_timeout is ${row.transaction_timeout}: the server cancels longer work in the background`,
      'remove the setting from the role or the database, or set it to some minutes',
    );
  }
  return ok(NAME, 'fsync, full_page_writes and synchronous_commit are on');
}
