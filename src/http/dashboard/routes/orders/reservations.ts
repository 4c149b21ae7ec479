import type { reservationOperations } from '../../../../contract/dashboard/orders/reservations.ts';
import { listChannels } from '../../../../dealers/integrations/integrations.ts';
import { assertItem } from '../../../../inventory/items/read-item.ts';
import { releaseReservation, reservationsOf } from '../../../../sales/reservations/dealer-reservations.ts';
import type { Handlers } from '../../call.ts';

export const reservationHandlers: Handlers<typeof reservationOperations> = {
  async listItemReservations({ context, user, params }) {
    const { db, channel } = context;
    await assertItem(db, user.organizationId, params.item_id);
    const [reservations, channels] = await Promise.all([
      reservationsOf(db, user.organizationId, params.item_id, channel.now()),
      listChannels(db, user.organizationId),
    ]);
    const names = new Map(channels.map(({ id, name }) => [id, name]));
    return {
      data: reservations.map(({ id, integrationId, units, reference, createdAt, expiresAt }) => ({
        id,
        integration_id: integrationId,
        channel: names.get(integrationId) ?? integrationId,
        units,
        reference,
        created_at: createdAt.toISOString(),
        expires_at: expiresAt.toISOString(),
      })),
    };
  },

  async releaseItemReservation({ context, user, actor, params }) {
    const { item_id: itemId, reservation_id: reservationId } = params;
    await releaseReservation(context.channel, actor, user.organizationId, itemId, reservationId);
    context.dashboard.feed.notify(user.organizationId, 'item', [itemId]);
    context.dashboard.feed.notify(user.organizationId, 'audit', null);
    return null;
  },
};
