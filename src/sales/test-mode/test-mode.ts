import type { Actor } from '../../audit/actor.ts';
import { lockClocks } from '../../channel/clock.ts';
import type { ChannelContext } from '../../channel/context.ts';
import { assertIntegrationOf } from '../../dealers/integrations/attach-integration.ts';
import { setTestMode } from '../../dealers/integrations/integrations.ts';
import { type DeletedTestData, deleteRestOfTestData } from './test-data.ts';
import { deleteMostTestData } from './test-data-batches.ts';

export type TestModeChange = { isTestMode: boolean; isTestDataDeleted: boolean };

/**
 * Goes live or back into test mode, and deletes the test data if that is wanted: most of it in batches before, the rest in
 * the same transaction.
 */
export async function changeTestMode(
  context: ChannelContext,
  actor: Actor,
  organizationId: string,
  integrationId: string,
  { isTestMode, isTestDataDeleted }: TestModeChange,
): Promise<DeletedTestData | null> {
  const before = isTestDataDeleted ? await deleteMostTestData(context, organizationId, integrationId) : null;
  return await context.db.transaction(async (tx) => {
    // Deleting locks customers, orders and then the clock; the mode takes the clock again.
    const deleted =
      before === null
        ? null
        : await deleteRestOfTestData(tx, context, actor, { organizationId, integrationId, before });
    await lockClocks(tx, [integrationId]);
    await assertIntegrationOf(tx, integrationId, organizationId);
    await setTestMode(tx, actor, integrationId, isTestMode);
    return deleted;
  });
}
