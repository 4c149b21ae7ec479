import type { CustomerFilter } from '../../../customers/list-customers.ts';
import { listChannels } from '../../../dealers/integrations/integrations.ts';
import { readOrganizationSettings } from '../../../dealers/organization-settings.ts';
import type { DashboardContext, SignedIn } from '../call.ts';

/** The filter of a list of customers, or of a choice among them. */
export async function customerFilterOf(
  context: DashboardContext,
  user: SignedIn,
  { search, isTest }: Pick<CustomerFilter, 'search' | 'isTest'>,
): Promise<CustomerFilter> {
  const [channels, country] = await Promise.all([
    listChannels(context.db, user.organizationId),
    countryOf(context, user),
  ]);
  const integrationIds = channels.map(({ id }) => id);
  return { organizationId: user.organizationId, integrationIds, isTest, search, country };
}

/** A phone without a country code is one of the dealer's country. */
export async function countryOf({ db }: DashboardContext, { organizationId }: SignedIn): Promise<string | null> {
  return (await readOrganizationSettings(db, organizationId))?.address.country ?? null;
}
