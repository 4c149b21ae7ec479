import type { BodyOf } from '../../../../contract/dashboard/operation.ts';
import { BULK_ACTIONS, type BulkSelection, type bulkOperations } from '../../../../contract/dashboard/stock/bulk.ts';
import { DomainError } from '../../../../contract/domain-error.ts';
import { onlyOnce } from '../../../../db/attempts.ts';
import { listChannels } from '../../../../dealers/integrations/integrations.ts';
import { newId } from '../../../../ids/new-id.ts';
import type { BulkChange } from '../../../../inventory/jobs/bulk-change.ts';
import { countSelected, type StockSelection } from '../../../../inventory/jobs/bulk-selection.ts';
import { startJob } from '../../../../inventory/jobs/stock-job-queue.ts';
import { listLocations } from '../../../../inventory/locations.ts';
import { attemptOf } from '../../attempt-of.ts';
import type { Call, DashboardContext, Handlers, SignedIn } from '../../call.ts';
import { notifyOfJob } from './jobs.ts';
import { filterOf } from './stock.ts';

type Change = BodyOf<(typeof bulkOperations)['changeStock']>;

export const bulkHandlers: Handlers<typeof bulkOperations> = {
  async countSelection({ context, user, body }) {
    return { count: await countSelected(context.db, user.organizationId, selectionOf(user, body)) };
  },

  async changeStock(call) {
    const { context, user, actor, body } = call;
    const { organizationId } = user;
    const attempt = attemptOf(body);
    const id = await onlyOnce(context.db, 'stock_jobs', organizationId, attempt, async () => {
      const selection = selectionOf(user, body);
      await assertOwned(context, user, selection);
      const { change, title } = await changeOf(context, user, body);
      return await startJob(context.db, actor, {
        organizationId,
        kind: 'bulk_change',
        title,
        parameters: { selection, change },
        isUndoable: true,
        attempt,
      });
    });
    return started(call, id);
  },

  async deleteStock(call) {
    const { context, user, actor, body } = call;
    const selection = selectionOf(user, body);
    const { organizationId } = user;
    await assertOwned(context, user, selection);
    const count = await countSelected(context.db, organizationId, selection);
    if (count > body.count) {
      const message = `${count} items match now, and you confirmed ${body.count}. Look at the list again.`;
      throw new DomainError('changed_meanwhile', message, 'count');
    }
    const title = count === 1 ? 'Delete 1 item for ever' : `Delete ${count} items for ever`;
    const id = await startJob(context.db, actor, {
      organizationId,
      kind: 'bulk_delete',
      title,
      parameters: { selection },
      isUndoable: false,
    });
    return started(call, id);
  },
};

function started(call: Pick<Call, 'context'> & { user: SignedIn }, jobId: string): { job_id: string } {
  notifyOfJob(call, jobId);
  return { job_id: jobId };
}

/** A request names items or a filter, never both: with both, it would be unclear which counts. */
function selectionOf(user: SignedIn, { item_ids: itemIds, filter }: BulkSelection): StockSelection {
  if ((itemIds === undefined) === (filter === undefined)) {
    throw new DomainError('invalid_input', 'Select items one by one, or all that match.', 'item_ids');
  }
  if (itemIds !== undefined) return { itemIds };
  const { organizationId: _, ...stored } = filterOf(user, filter as NonNullable<typeof filter>);
  return { filter: stored, until: newId(stored.kind) };
}

async function assertOwned(context: DashboardContext, user: SignedIn, selection: StockSelection): Promise<void> {
  if (!('itemIds' in selection)) return;
  const found = await countSelected(context.db, user.organizationId, selection);
  if (found < selection.itemIds.length) {
    throw new DomainError('not_found', 'Some of these items are no longer there. Select them again.', 'item_ids');
  }
}

/** The change, after the objects that it names were checked, and its title for people. */
async function changeOf(
  context: DashboardContext,
  user: SignedIn,
  body: Change,
): Promise<{ change: BulkChange; title: string }> {
  const verb = BULK_ACTIONS[body.action];
  switch (body.action) {
    case 'publish':
    case 'unpublish': {
      const channels = await listChannels(context.db, user.organizationId);
      const channel = channels.find(({ id }) => id === body.integration_id);
      if (channel === undefined) throw new DomainError('not_found', 'There is no such channel.', 'integration_id');
      const title = body.action === 'publish' ? `Publish on ${channel.name}` : `Take off ${channel.name}`;
      return { change: { action: body.action, integrationId: channel.id }, title };
    }
    case 'set_location': {
      const locationId = body.location_id ?? null;
      const locations = await listLocations(context.db, user.organizationId);
      const location = locations.find(({ id }) => id === locationId);
      if (locationId !== null && location === undefined) {
        throw new DomainError('not_found', 'There is no such location.', 'location_id');
      }
      return { change: { action: body.action, locationId }, title: `${verb}: ${location?.name ?? 'none'}` };
    }
    case 'change_price':
      return { change: priceChangeOf(body), title: priceTitle(body) };
    default:
      return { change: { action: body.action }, title: verb };
  }
}

function priceChangeOf({ price }: Change): BulkChange {
  const { basis_points: basisPoints = null, amount = null, round_to: roundTo = null } = price ?? {};
  if ((basisPoints === null) === (amount === null)) {
    throw new DomainError('invalid_input', 'Change the price by a percentage or by an amount.', 'price');
  }
  return { action: 'change_price', basisPoints, amount, roundTo };
}

function priceTitle({ price }: Change): string {
  if (price?.basis_points === undefined) return 'Change price by an amount';
  return `Change price by ${price.basis_points > 0 ? '+' : ''}${price.basis_points / 100} %`;
}
