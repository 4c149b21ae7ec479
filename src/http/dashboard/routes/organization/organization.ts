import type { Static } from 'typebox';
import type {
  BusinessSettings,
  organizationOperations,
} from '../../../../contract/dashboard/organization/organization.ts';
import { DomainError } from '../../../../contract/domain-error.ts';
import {
  changeOrganization,
  type OrganizationSettings,
  readOrganizationSettings,
} from '../../../../dealers/organization-settings.ts';
import { findOrganization } from '../../../../dealers/organizations.ts';
import type { Call, Handlers } from '../../call.ts';

type Changing = Pick<Call<(typeof organizationOperations)['changeBusiness']>, 'context' | 'user' | 'actor'>;

export const organizationHandlers: Handlers<typeof organizationOperations> = {
  async getBusiness(call) {
    return await presentBusiness(call);
  },

  async changeBusiness(call) {
    const { revision, name, address, currency } = call.body;
    const changes = {
      ...(name === undefined ? {} : { name }),
      ...(address === undefined ? {} : { address }),
      ...(currency === undefined ? {} : { currency }),
      ...(call.body.default_tax_treatment === undefined
        ? {}
        : { defaultTaxTreatment: call.body.default_tax_treatment }),
      ...(call.body.time_zone === undefined ? {} : { timeZone: call.body.time_zone }),
    };
    return await change(call, changes, revision);
  },

  async setCostAccess(call) {
    return await change(call, { staffSeesCost: call.body.staff_sees_cost });
  },
};

async function change(call: Changing, changes: Partial<OrganizationSettings>, revision?: number) {
  const { context, user, actor } = call;
  const options = revision === undefined ? {} : { revision };
  await changeOrganization(context.channel, actor, user.organizationId, changes, options);
  for (const kind of ['organization', 'item', 'audit'] as const) {
    context.dashboard.feed.notify(user.organizationId, kind, null);
  }
  return await presentBusiness(call);
}

async function presentBusiness({ context, user }: Pick<Call, 'context'> & { user: { organizationId: string } }) {
  const [settings, organization] = await Promise.all([
    readOrganizationSettings(context.db, user.organizationId),
    findOrganization(context.db, user.organizationId),
  ]);
  if (settings === null || organization === null) throw new DomainError('not_found', 'There is no such business.');
  const { line1, line2, city, state, postal_code, country } = settings.address;
  const presented: Static<typeof BusinessSettings> = {
    name: settings.name,
    address: { line1, line2, city, state, postal_code, country },
    default_tax_treatment: settings.defaultTaxTreatment as Static<typeof BusinessSettings>['default_tax_treatment'],
    currency: settings.currency,
    time_zone: settings.timeZone,
    staff_sees_cost: settings.staffSeesCost,
    revision: settings.revision,
    operator: {
      has_integration_plan: organization.hasIntegrationPlan,
      is_provisioned: organization.isProvisioned,
    },
  };
  return presented;
}
