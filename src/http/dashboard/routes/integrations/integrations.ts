import { commitAndWake } from '../../../../channel/commit-and-wake.ts';
import { listJobsOf } from '../../../../channel/jobs/channel-job-queue.ts';
import { previewPresentation } from '../../../../channel/projection/preview-presentation.ts';
import type { integrationOperations } from '../../../../contract/dashboard/integrations/integrations.ts';
import { DomainError } from '../../../../contract/domain-error.ts';
import { RATE_LIMIT_DEFAULT } from '../../../../contract/limits.ts';
import type { Transaction } from '../../../../db/database.ts';
import { deleteIntegrationOf, listDeletions } from '../../../../dealers/deletions.ts';
import { assertIntegrationOf } from '../../../../dealers/integrations/attach-integration.ts';
import {
  findIntegrationOf,
  listChannelCurrencies,
  listIntegrationsOf,
} from '../../../../dealers/integrations/integration-list.ts';
import { changePresentation } from '../../../../dealers/integrations/integration-settings.ts';
import { createIntegration, renameIntegration, setEnabled } from '../../../../dealers/integrations/integrations.ts';
import { rotateApiKey } from '../../../../dealers/integrations/rotate-api-key.ts';
import { sendDealerPing } from '../../../../dealers/integrations/send-dealer-ping.ts';
import { countTestData } from '../../../../sales/test-mode/test-data.ts';
import { changeTestMode } from '../../../../sales/test-mode/test-mode.ts';
import { findDelivery } from '../../../../webhooks/delivery-queue/delivery-log.ts';
import { REPLAYED_DELIVERY_BYTES } from '../../../../webhooks/delivery-queue/replay.ts';
import { setUrl, setWebhooksEnabled, subscribe } from '../../../../webhooks/endpoints/endpoint-settings.ts';
import { readEndpointStatuses, readSecrets } from '../../../../webhooks/endpoints/endpoint-status.ts';
import { rotateSigningSecret } from '../../../../webhooks/endpoints/rotate-signing-secret.ts';
import { checkEndpoint } from '../../../../webhooks/sending/check-endpoint.ts';
import type { DashboardContext, Handlers, SignedIn } from '../../call.ts';
import { presentStop, presentStops } from '../../presenters/endpoint-stop.ts';
import {
  presentDeletion,
  presentDetail,
  presentPresentationPreview,
  presentSummary,
  presentTestDelivery,
  settingsOf,
} from '../../presenters/integration-presenters.ts';

const JOBS_SHOWN = 5;
const DELETIONS_SHOWN = 20;

export const integrationHandlers: Handlers<typeof integrationOperations> = {
  async listIntegrations({ context, user }) {
    const [integrations, currencies, deletions] = await Promise.all([
      listIntegrationsOf(context.db, user.organizationId),
      listChannelCurrencies(context.db, user.organizationId),
      listDeletions(context.db, user.organizationId, DELETIONS_SHOWN),
    ]);
    const endpoints = await readEndpointStatuses(
      context.db,
      integrations.map(({ id }) => id),
    );
    const endpointOf = new Map(endpoints.map((endpoint) => [endpoint.integrationId, endpoint]));
    const stopOf = await presentStops(context.db, user.organizationId, endpoints);
    return {
      data: integrations.map((one) => presentSummary(one, endpointOf.get(one.id), stopOf(one.id))),
      currencies,
      deletions: deletions.filter(({ status }) => status !== 'done').map(presentDeletion),
    };
  },

  async createIntegration({ context, user, actor, body }) {
    const { organizationId, userId } = user;
    const input = { organizationId, userId, name: body.name, currency: body.currency, isTestMode: true };
    const { id, apiKey } = await createIntegration(context.db, actor, input);
    notify(context, user, id);
    return { id, api_key: apiKey };
  },

  async getIntegration({ context, user, params }) {
    const { db } = context;
    const id = params.integration_id;
    const integration = await findIntegrationOf(db, user.organizationId, id);
    if (integration === null) throw noIntegration();
    const [[endpoint], secrets, used, testData, jobs] = await Promise.all([
      readEndpointStatuses(db, [id]),
      readSecrets(db, context.webhooks.encryption, id),
      context.rateLimits.used(id),
      countTestData(db, id),
      listJobsOf(db, id, JOBS_SHOWN),
    ]);
    const limit = integration.rateLimitOverride ?? RATE_LIMIT_DEFAULT;
    const stop = await presentStop(db, user.organizationId, endpoint);
    return presentDetail({ integration, endpoint, stop, secrets, rate: { limit, used }, testData, jobs });
  },

  async getIntegrationUsage({ context, user, params }) {
    const id = params.integration_id;
    const integration = await findIntegrationOf(context.db, user.organizationId, id);
    if (integration === null) throw noIntegration();
    const used = await context.rateLimits.used(id);
    return {
      rate: { limit: integration.rateLimitOverride ?? RATE_LIMIT_DEFAULT, used },
      last_used_at: integration.lastUsedAt?.toISOString() ?? null,
    };
  },

  async updateIntegration({ context, user, actor, params, body }) {
    const id = params.integration_id;
    await within(context, user, id, async (tx) => {
      if (body.name !== undefined) await renameIntegration(tx, actor, id, body.name);
      if (body.is_enabled !== undefined) await setEnabled(tx, actor, id, body.is_enabled);
    });
    return null;
  },

  async deleteIntegration({ context, user, actor, params, body }) {
    const key = { organizationId: user.organizationId, integrationId: params.integration_id };
    await deleteIntegrationOf(context.db, actor, key, body.name);
    notify(context, user, params.integration_id);
    return null;
  },

  async setTestMode({ context, user, actor, params, body }) {
    const change = { isTestMode: body.is_test_mode, isTestDataDeleted: body.delete_test_data ?? false };
    const { organizationId } = user;
    const deleted = await changeTestMode(context.channel, actor, organizationId, params.integration_id, change);
    notify(context, user, params.integration_id);
    if (deleted !== null) {
      for (const kind of ['order', 'sale', 'customer', 'delivery'] as const) {
        context.dashboard.feed.notify(organizationId, kind, null);
      }
    }
    return { deleted: deleted === null ? null : { orders: deleted.orders, customers: deleted.customers } };
  },

  async regenerateKey({ context, user, actor, params }) {
    const id = params.integration_id;
    const apiKey = await within(context, user, id, (tx) => rotateApiKey(tx, actor, id));
    return { api_key: expected(apiKey) };
  },

  async setWebhookUrl({ context, user, actor, params, body }) {
    const id = params.integration_id;
    const url = body.url?.trim() || null;
    // Deliveries that were held because there was no URL are due now.
    const set = await within(context, user, id, (tx) => setUrl(tx, actor, context.webhooks, id, url), WAKE);
    const { url: saved, secret } = expected(set);
    return { url: saved, secret };
  },

  async checkWebhook({ context, user, params }) {
    const { organizationId } = user;
    const integrationId = params.integration_id;
    if ((await findIntegrationOf(context.db, organizationId, integrationId)) === null) throw noIntegration();
    const ids = { integrationId, organizationId };
    const check = await checkEndpoint(context.db, context.webhooks, ids, context.channel.now());
    if (check === null) throw new DomainError('wrong_status', 'There is no webhook URL to check.', 'url');
    return {
      url: check.url,
      is_success: check.isSuccess,
      response_code: check.responseCode,
      response_body: check.responseBody,
      error: check.error,
      duration_ms: check.durationMs,
    };
  },

  async setWebhooksEnabled({ context, user, actor, params, body }) {
    const id = params.integration_id;
    const { is_enabled: isEnabled } = body;
    await within(context, user, id, (tx) => setWebhooksEnabled(tx, actor, id, isEnabled), isEnabled ? WAKE : {});
    return null;
  },

  async setSubscriptions({ context, user, actor, params, body }) {
    const id = params.integration_id;
    await within(context, user, id, (tx) => subscribe(tx, actor, id, body.subscribed_events));
    return null;
  },

  async rotateSecret({ context, user, actor, params, body }) {
    const id = params.integration_id;
    const { encryption } = context.webhooks;
    const secret = await within(context, user, id, (tx) =>
      rotateSigningSecret(tx, actor, encryption, id, body.grace_hours, context.channel.now()),
    );
    return { secret: expected(secret) };
  },

  async previewPresentation({ context, user, params, body }) {
    const id = params.integration_id;
    if ((await findIntegrationOf(context.db, user.organizationId, id)) === null) throw noIntegration();
    const preview = await previewPresentation(context.channel, id, settingsOf(body));
    if (preview === null) throw noIntegration();
    return presentPresentationPreview(preview, context.publicUrl);
  },

  async changePresentation({ context, user, actor, params, body }) {
    const id = params.integration_id;
    await changePresentation(context.channel, actor, user.organizationId, id, settingsOf(body));
    notify(context, user, id);
    context.dashboard.feed.notify(user.organizationId, 'job', null);
    return null;
  },

  async sendTestEvent({ context, user, actor, params, countStorage }) {
    const event = await sendDealerPing(context.channel, actor, user.organizationId, params.integration_id);
    await countStorage(REPLAYED_DELIVERY_BYTES);
    return { event_id: event.id, delivery_id: event.deliveryId };
  },

  async getTestDelivery({ context, user, params }) {
    const { integration_id: id, delivery_id: deliveryId } = params;
    const integration = await findIntegrationOf(context.db, user.organizationId, id);
    const delivery = integration === null ? null : await findDelivery(context.db, id, deliveryId);
    if (delivery === null) throw new DomainError('not_found', 'There is no such delivery.');
    return presentTestDelivery(delivery);
  },
};

const WAKE = { wakes: true };

/**
 * Runs one change of an integration that belongs to the dealer until the commit, then notifies open pages. With
 * `wakes` it also wakes the delivery workers, because deliveries may be due after the change.
 */
async function within<Result>(
  context: DashboardContext,
  user: SignedIn,
  integrationId: string,
  change: (tx: Transaction) => Promise<Result>,
  { wakes = false }: { wakes?: boolean } = {},
): Promise<Result> {
  const { result } = await commitAndWake(context.channel, async (tx) => {
    await assertIntegrationOf(tx, integrationId, user.organizationId);
    return { result: await change(tx), touched: wakes ? [integrationId] : [] };
  });
  notify(context, user, integrationId);
  return result;
}

function notify(context: DashboardContext, user: SignedIn, integrationId: string): void {
  context.dashboard.feed.notify(user.organizationId, 'integration', [integrationId]);
}

/**
 * It is null only if the integration was deleted between two statements of the transaction, which the lock prevents.
 */
function expected<Value>(value: Value | null): Value {
  if (value === null) throw noIntegration();
  return value;
}

function noIntegration(): DomainError {
  return new DomainError('not_found', 'There is no such integration.');
}
