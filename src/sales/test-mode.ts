import type { Actor } from '../audit/actor.ts';
import { lockClocks } from '../channel/clock.ts';
import type { ChannelContext } from '../channel/context.ts';
import { assertIntegrationOf, setTestMode } from '../dealers/integrations/integrations.ts';
import { type DeletedTestData, deleteTestDataIn } from './test-data.ts';

export type TestModeChange = { isTestMode: boolean; isTestDataDeleted: boolean };

/** Goes live or back into test mode, and deletes the test data in the same transaction if that is wanted. */
export async function changeTestMode(
  context: ChannelContext,
  actor: Actor,
  organizationId: string,
  integrationId: string,
  { isTestMode, isTestDataDeleted }: TestModeChange,
): Promise<DeletedTestData | null> {
  return await context.db.transaction(async (tx) => {
    // Deleting locks customers, orders and then the clock; the mode takes the clock again.
    const deleted = isTestDataDeleted
      ? await deleteTestDataIn(tx, context, actor, organizationId, integrationId)
      : null;
    await lockClocks(tx, [integrationId]);
    await assertIntegrationOf(tx, integrationId, organizationId);
    await setTestMode(tx, actor, integrationId, isTestMode);
    return deleted;
  });
}
