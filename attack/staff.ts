import type { Shop } from '../bench/shop.ts';
import { COMMAND_LINE } from '../src/audit/actor.ts';
import type { Database } from '../src/db/database.ts';
import { sql } from '../src/db/sql.ts';
import { createUser } from '../src/dealers/users/users.ts';
import { randomBase62 } from '../src/ids/new-id.ts';
import { storeImportFile } from '../src/inventory/import/import-files.ts';
import type { Staff } from './attacks/attack.ts';

const IMPORT_FILES = 6;
const PASSWORD = 'the long password of an attacker';

/** Makes somebody of a dealer's team, without the rights of an owner, and signs them in as a browser does. */
export async function signInStaff(
  db: Database,
  port: number,
  shop: Shop,
  {
    photo = '',
    sessions = 1,
    table = 'stock_number\nW-1\n',
  }: { photo?: string; sessions?: number; table?: string } = {},
): Promise<Staff> {
  const { organizationId, integrationId, listingIds: itemIds } = shop;
  const email = `${randomBase62(10).toLowerCase()}@dealer.example`;
  const person = { organizationId, name: 'Attacker', email, password: PASSWORD, role: 'staff' as const };
  const { id: uploadedBy } = await createUser(db, COMMAND_LINE, person);
  const origin = `http://localhost:${port}`;
  // All come from one address, and an attack on passwords has used up what it may try.
  await db.query(sql`delete from sign_in_attempts`);
  const cookies: string[] = [];
  for (let index = 0; index < sessions; index++) cookies.push(await signIn(port, origin, email));
  const fileIds: string[] = [];
  for (let index = 0; index < IMPORT_FILES; index++) {
    const file = { name: 'x.csv', kind: 'listing' as const, bytes: Buffer.from(table), uploadedBy };
    fileIds.push(await storeImportFile(db, organizationId, file));
  }
  return { cookie: cookies[0] ?? '', cookies, origin, integrationId, itemIds, fileIds, photo };
}

async function signIn(port: number, origin: string, email: string): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/api/dashboard/session`, {
    method: 'POST',
    headers: { origin, 'content-type': 'application/json' },
    body: JSON.stringify({ email, password: PASSWORD }),
  });
  await answer.arrayBuffer();
  if (!answer.ok) throw new Error(`the sign-in was answered ${answer.status}`);
  return answer.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');
}
