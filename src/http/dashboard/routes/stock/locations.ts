import type { locationOperations } from '../../../../contract/dashboard/stock/locations.ts';
import {
  createBusinessUnit,
  createLocation,
  deleteBusinessUnit,
  deleteLocation,
  listBusinessUnits,
  renameBusinessUnit,
  renameLocation,
} from '../../../../inventory/locations.ts';
import type { DashboardContext, Handlers, SignedIn } from '../../call.ts';

export const locationHandlers: Handlers<typeof locationOperations> = {
  async listLocations({ context, user }) {
    const units = await listBusinessUnits(context.db, user.organizationId);
    return {
      business_units: units.map(({ id, name, locations }) => ({
        id,
        name,
        locations: locations.map((location) => ({ id: location.id, name: location.name, items: location.items })),
      })),
    };
  },

  async createBusinessUnit({ context, user, actor, body }) {
    const id = await createBusinessUnit(context.db, actor, user.organizationId, body.name);
    notify(context, user);
    return { id };
  },

  async renameBusinessUnit({ context, user, actor, params, body }) {
    await renameBusinessUnit(context.channel, actor, user.organizationId, params.business_unit_id, body.name);
    notify(context, user);
    return null;
  },

  async deleteBusinessUnit({ context, user, actor, params }) {
    await deleteBusinessUnit(context.db, actor, user.organizationId, params.business_unit_id);
    notify(context, user);
    return null;
  },

  async createLocation({ context, user, actor, params, body }) {
    const id = await createLocation(context.db, actor, user.organizationId, params.business_unit_id, body.name);
    notify(context, user);
    return { id };
  },

  async renameLocation({ context, user, actor, params, body }) {
    await renameLocation(context.channel, actor, user.organizationId, params.location_id, body.name);
    notify(context, user);
    return null;
  },

  async deleteLocation({ context, user, actor, params, query }) {
    const key = { organizationId: user.organizationId, id: params.location_id };
    await deleteLocation(context.channel, actor, { ...key, confirmedItems: query.items ?? 0 });
    notify(context, user);
    return null;
  },
};

function notify({ dashboard }: DashboardContext, { organizationId }: SignedIn): void {
  dashboard.feed.notify(organizationId, 'location', null);
  dashboard.feed.notify(organizationId, 'audit', null);
}
