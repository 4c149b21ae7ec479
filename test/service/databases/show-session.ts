import { openDatabase } from '../../../src/db/database.ts';
import { rawSql } from '../../../src/db/sql.ts';

/**
 * `node show-session.ts ADDRESS NAME…` prints the settings of a connection of the pool and of one outside it, as our own
 * code opens them. It runs as a process of its own, because the environment is what the test changes.
 */
const [address = '{}', ...names] = process.argv.slice(2);
const db = openDatabase({ address: JSON.parse(address), poolSize: 1, onIdleError: () => {} });
const statement = `select ${names.map((name) => `current_setting('${name}') as "${name}"`).join(', ')}`;
const [pooled] = await db.query(rawSql(statement));
const client = await db.connect();
const [single] = (await client.query(statement)).rows;
await client.end();
await db.close();
console.log(JSON.stringify({ pooled, single }));
