import { namesOfCustomers } from '../../../customers/customer-names.ts';
import type { Queryable } from '../../../db/database.ts';
import { listChannels } from '../../../dealers/integrations/integrations.ts';
import { findOrganization } from '../../../dealers/organizations.ts';
import { namesOfPeople } from '../../../dealers/people-names.ts';
import { namesOfStock } from '../../../inventory/lists/stock-names.ts';
import { presentCustomer } from './order-presenters.ts';

/**
 * The names of objects of any kind, by id. An object without a name of its own, such as an order, is not in the map.
 */
export async function namesOfObjects(
  db: Queryable,
  organizationId: string,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const startsWith = (...prefixes: string[]) => ids.filter((id) => prefixes.some((prefix) => id.startsWith(prefix)));
  const [people, stock, customers, channels, organization] = await Promise.all([
    named(startsWith('usr_'), (some) => namesOfPeople(db, organizationId, some)),
    named(startsWith('lst_', 'prt_', 'loc_', 'bun_'), (some) => namesOfStock(db, organizationId, some)),
    named(startsWith('cus_'), (some) => customerNames(db, organizationId, some)),
    startsWith('int_').length === 0 ? [] : listChannels(db, organizationId),
    startsWith('org_').length === 0 ? null : findOrganization(db, organizationId),
  ]);
  return new Map([
    ...people,
    ...stock,
    ...customers,
    ...channels.map(({ id, name }): [string, string] => [id, name]),
    ...(organization === null ? [] : [[organization.id, organization.name] as [string, string]]),
  ]);
}

/** A customer that was erased or merged has no name any more. */
async function customerNames(db: Queryable, organizationId: string, ids: string[]): Promise<Map<string, string>> {
  const found = await namesOfCustomers(db, organizationId, ids);
  return new Map(
    [...found].flatMap(([id, customer]) => {
      const { name, email, phone } = presentCustomer(customer);
      const shown = name ?? email ?? phone;
      return shown === null ? [] : [[id, shown] as const];
    }),
  );
}

async function named(
  ids: string[],
  read: (ids: string[]) => Promise<Map<string, string>>,
): Promise<Map<string, string>> {
  return ids.length === 0 ? new Map() : await read([...new Set(ids)]);
}
