import type { Static } from 'typebox';
import type { Job } from '../../../channel/jobs/channel-job-queue.ts';
import type {
  PresentationChange,
  PresentationPreview,
  ShownItem,
} from '../../../channel/projection/preview-presentation.ts';
import type {
  IntegrationDetail,
  integrationOperations,
} from '../../../contract/dashboard/integrations/integrations.ts';
import type { BodyOf, ResponseOf } from '../../../contract/dashboard/operation.ts';
import type { DeletionJob } from '../../../dealers/deletions.ts';
import type { DealerIntegration } from '../../../dealers/integrations/integration-list.ts';
import type { DeletedTestData } from '../../../sales/test-mode/test-data.ts';
import type { DeliveryDetail } from '../../../webhooks/delivery-queue/delivery-log.ts';
import type { EndpointStatus, SecretState } from '../../../webhooks/endpoints/endpoint-status.ts';
import type { EndpointStop } from './endpoint-stop.ts';
import { photoUrl } from './photo-urls.ts';

type Operations = typeof integrationOperations;

export function presentSummary(
  integration: DealerIntegration,
  endpoint: EndpointStatus | undefined,
  stop: EndpointStop,
) {
  return {
    id: integration.id,
    name: integration.name,
    currency: integration.currency,
    is_enabled: integration.isEnabled,
    is_test_mode: integration.isTestMode,
    api_version: integration.apiVersion,
    key_hint: integration.keyHint,
    last_used_at: integration.lastUsedAt?.toISOString() ?? null,
    created_at: integration.createdAt.toISOString(),
    webhook: {
      url: endpoint?.url ?? null,
      is_enabled: endpoint?.isEnabled ?? false,
      is_sending: endpoint?.isSending ?? false,
      ...stop,
      subscribed_events: endpoint?.subscribedEvents ?? [],
      last_success_at: endpoint?.lastSuccessAt?.toISOString() ?? null,
      last_failure_at: endpoint?.lastFailureAt?.toISOString() ?? null,
      consecutive_failures: endpoint?.consecutiveFailures ?? 0,
    },
  };
}

export function presentDeletion({ id, name, done, total, error, createdAt }: DeletionJob) {
  return { id, name, done, total, error, created_at: createdAt.toISOString() };
}

type Detail = {
  integration: DealerIntegration;
  endpoint: EndpointStatus | undefined;
  stop: EndpointStop;
  secrets: SecretState[];
  rate: { limit: number; used: number };
  testData: DeletedTestData;
  jobs: Job[];
};

export function presentDetail(detail: Detail): Static<typeof IntegrationDetail> {
  const { integration, endpoint, stop, secrets, rate, testData, jobs } = detail;
  return {
    ...presentSummary(integration, endpoint, stop),
    presentation: {
      currency: integration.currency,
      markup_basis_points: integration.markupBasisPoints,
      rounding: integration.rounding,
      image_format: integration.imageFormat,
    },
    secrets: secrets.map(({ createdAt, expiresAt, isDecryptable }) => ({
      created_at: createdAt.toISOString(),
      expires_at: expiresAt?.toISOString() ?? null,
      is_usable: isDecryptable,
    })),
    rate: { limit: rate.limit, used: rate.used },
    test_data: { orders: testData.orders, customers: testData.customers },
    jobs: jobs.map((job) => ({
      id: job.id,
      kind: job.kind,
      reasons: job.reasons,
      status: job.status,
      done: job.done,
      total: job.total,
      error: job.error,
      created_at: job.createdAt.toISOString(),
    })),
  };
}

export function settingsOf(body: BodyOf<Operations['changePresentation']>): PresentationChange {
  return {
    currency: body.currency,
    markupBasisPoints: body.markup_basis_points,
    rounding: body.rounding,
    imageFormat: body.image_format,
  };
}

export function presentPresentationPreview(
  preview: PresentationPreview,
  publicUrl: string,
): ResponseOf<Operations['previewPresentation']> {
  return {
    items: preview.items.map((item) => ({
      id: item.id,
      kind: item.kind,
      title: item.title,
      stock_number: item.stockNumber,
      thumbnail_url: photoUrl(publicUrl, item.photoId, 'small'),
      before: presentShown(item.before),
      after: presentShown(item.after),
    })),
    touched: preview.touched,
    on_channel: preview.onChannel,
    is_rate_missing: preview.isRateMissing,
  };
}

function presentShown({ price, photoUrl: url }: ShownItem) {
  return {
    price: price === null ? null : { amount: price.amount, currency: price.currency },
    photo_url: url,
  };
}

export function presentTestDelivery(delivery: DeliveryDetail): ResponseOf<Operations['getTestDelivery']> {
  return {
    id: delivery.id,
    event_id: delivery.eventId,
    status: delivery.status,
    attempts: delivery.attempts,
    response_code: delivery.lastResponseCode,
    response_body: delivery.lastResponseBody,
    error: delivery.lastError,
    created_at: delivery.createdAt.toISOString(),
    last_attempt_at: delivery.lastAttemptAt?.toISOString() ?? null,
    next_attempt_at: delivery.dueAt?.toISOString() ?? null,
  };
}
