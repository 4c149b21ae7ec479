import type { OPERATIONS } from '../../../contract/operations.ts';
import { shareOf } from '../../../dealers/integrations/admission.ts';
import { findIntegrationProfile } from '../../../dealers/integrations/integration-profile.ts';
import { reading } from '../database-faults.ts';
import type { Handler } from '../handler.ts';

export const getMe: Handler<typeof OPERATIONS.getMe> = async ({ context, integration, reply }) =>
  await context.readLimits.read({ share: shareOf(integration), reply }, () =>
    reading(() => findIntegrationProfile(context.db, integration.integrationId)),
  );
