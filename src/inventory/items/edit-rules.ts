import type { Values } from '../../audit/record-audit.ts';
import type { ChannelContext } from '../../channel/context.ts';
import { DomainError } from '../../contract/domain-error.ts';
import type { Queryable } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { belowPromotionError, highestPromotions } from '../promotions.ts';
import { assertUnitsOwned } from './item-input.ts';

/** The rules of an edit that concern other tables and the units of the item, for one item and for many. */
export type Edit = { item: { id: string; reservedUnits: number }; new: Values };

/** What the rules need to know of other tables. */
export type EditFacts = { locationsAndChannels: Set<string>; promotions: Map<string, number> };

export async function readEditFacts(
  db: Queryable,
  context: ChannelContext,
  organizationId: string,
  edits: readonly Edit[],
): Promise<EditFacts> {
  const locationIds = edits.map(({ new: values }) => values.locationId).filter((id) => typeof id === 'string');
  const channelIds = edits.flatMap(channelsOf);
  const priced = edits.filter(({ new: values }) => typeof values.priceAmount === 'number').map(({ item }) => item.id);
  return {
    locationsAndChannels:
      locationIds.length + channelIds.length === 0
        ? new Set()
        : await findLocationsAndChannels(db, organizationId, locationIds, channelIds),
    promotions: priced.length === 0 ? new Map() : await highestPromotions(db, context, priced),
  };
}

/** Throws what is wrong with an edit. The item's row is locked, unless this is a preview. */
export function assertEdit(edit: Edit, { locationsAndChannels, promotions }: EditFacts): void {
  const { item, new: values } = edit;
  // The dealer enters the units that are free to sell. Units that orders hold stay held.
  if (typeof values.units === 'number') assertUnitsOwned(values.units + item.reservedUnits);
  if (typeof values.locationId === 'string' && !locationsAndChannels.has(values.locationId)) {
    throw new DomainError('not_found', 'There is no such location.', 'locationId');
  }
  if (channelsOf(edit).some((id) => !locationsAndChannels.has(id))) {
    throw new DomainError('not_found', 'There is no such integration.', 'channels');
  }
  const highest = promotions.get(item.id);
  if (typeof values.priceAmount === 'number' && highest !== undefined && highest >= values.priceAmount) {
    throw belowPromotionError();
  }
}

/** The channels that an edit puts an item on or takes it off. */
export function channelsOf({ new: values }: Pick<Edit, 'new'>): string[] {
  return Object.keys((values.channels as Record<string, boolean> | undefined) ?? {});
}

/** Which of these locations and channels the dealer still has. */
export async function findLocationsAndChannels(
  db: Queryable,
  organizationId: string,
  locationIds: string[],
  channelIds: string[],
): Promise<Set<string>> {
  const rows = await db.query<{ id: string }>(sql`
    select id from locations where organization_id = ${organizationId} and id = any(${locationIds}::text[])
    union all
    select id from integrations where organization_id = ${organizationId} and id = any(${channelIds}::text[])`);
  return new Set(rows.map((row) => row.id));
}
