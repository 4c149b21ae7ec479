import Type from 'typebox';
import { GONE_LIMIT, STRING_LENGTH_LIMIT } from '../../limits.ts';
import { GRACE_MAX_HOURS, MARKUP_MAX_BASIS_POINTS, MARKUP_MIN_BASIS_POINTS } from '../limits.ts';
import { operation } from '../operation.ts';
import { Kind, Money } from '../stock/stock.ts';

/** How prices of a channel are rounded, in the order in which a dealer chooses. */
export const ROUNDING_LABELS = {
  none: 'Not rounded',
  to_1: 'To whole units',
  to_5: 'To 5',
  to_10: 'To 10',
  to_50: 'To 50',
  to_100: 'To 100',
  up_to_9: 'Up, ending in 9',
  up_to_95: 'Up, ending in 95',
  up_to_99: 'Up, ending in 99',
} as const;
export const IMAGE_FORMAT_LABELS = { original: 'As uploaded', jpeg: 'JPEG', webp: 'WebP', avif: 'AVIF' } as const;

/** Why webhooks are not sent. */
export const STOP_REASON_LABELS = {
  no_url: 'There is no webhook URL.',
  gone: `The website answered 410 Gone ${GONE_LIMIT} times in a row, so webhooks were switched off.`,
  webhooks_off: 'Webhooks are switched off.',
  integration_disabled: 'The integration is disabled.',
  no_organization: 'The integration belongs to no dealer.',
  not_provisioned: 'Your account is not set up yet.',
  no_plan: 'Your plan does not include integrations.',
} as const;

const URL_LENGTH_LIMIT = 2_000;
const EVENT_NAMES_LIMIT = 100;

type Names<Labels> = Extract<keyof Labels, string>;
function oneOf<Labels extends Record<string, string>>(labels: Labels) {
  return Type.Unsafe<Names<Labels>>({ type: 'string', enum: Object.keys(labels) });
}

const Timestamp = Type.String({ format: 'date-time' });
const MaybeTime = Type.Union([Timestamp, Type.Null()]);
const MaybeText = Type.Union([Type.String(), Type.Null()]);
/** When the webhooks or the integration were switched off, and by whom. */
export const SwitchedOff = Type.Object({
  at: Timestamp,
  by: Type.Union([Type.String(), Type.Null()], {
    description: 'Null if the service did it, after the website had answered 410 Gone.',
  }),
});

/** Why nothing is sent to an integration now. */
export const endpointStop = {
  stop_reasons: Type.Array(oneOf(STOP_REASON_LABELS), {
    description: 'Why nothing is sent to the integration now.',
  }),
  switched_off: Type.Union([SwitchedOff, Type.Null()], {
    description: 'Null if nobody switched it off, or the audit log has forgotten it.',
  }),
};

const Currency = Type.String({ minLength: 3, maxLength: 3 });
const Name = Type.String({ minLength: 1, maxLength: STRING_LENGTH_LIMIT });

const Webhook = Type.Object({
  url: MaybeText,
  is_enabled: Type.Boolean(),
  is_sending: Type.Boolean(),
  ...endpointStop,
  subscribed_events: Type.Array(Type.String()),
  last_success_at: MaybeTime,
  last_failure_at: MaybeTime,
  consecutive_failures: Type.Integer(),
});

const summary = {
  id: Type.String(),
  name: Type.String(),
  currency: Type.String(),
  is_enabled: Type.Boolean(),
  is_test_mode: Type.Boolean(),
  api_version: Type.String({ description: 'The version that its client is pinned to.' }),
  key_hint: Type.String({ description: 'How its key begins; the key itself is kept nowhere.' }),
  last_used_at: Type.Union([Timestamp, Type.Null()], { description: 'Of the key, to the minute.' }),
  created_at: Timestamp,
  webhook: Webhook,
};

const Presentation = Type.Object({
  currency: Currency,
  markup_basis_points: Type.Integer({ minimum: MARKUP_MIN_BASIS_POINTS, maximum: MARKUP_MAX_BASIS_POINTS }),
  rounding: oneOf(ROUNDING_LABELS),
  image_format: oneOf(IMAGE_FORMAT_LABELS),
});

const TestData = Type.Object({ orders: Type.Integer(), customers: Type.Integer() });

const ChannelJob = Type.Object({
  id: Type.String(),
  kind: Type.String(),
  reasons: Type.Array(Type.String()),
  status: Type.Unsafe<'pending' | 'running' | 'done'>({ type: 'string', enum: ['pending', 'running', 'done'] }),
  done: Type.Integer(),
  total: Type.Integer(),
  error: MaybeText,
  created_at: Timestamp,
});

const Rate = Type.Object({ limit: Type.Integer(), used: Type.Integer({ description: 'In the last 60 seconds.' }) });

export const IntegrationDetail = Type.Object(
  {
    ...summary,
    presentation: Presentation,
    secrets: Type.Array(Type.Object({ created_at: Timestamp, expires_at: MaybeTime, is_usable: Type.Boolean() }), {
      description: 'Those that sign now, newest first; never their text.',
    }),
    rate: Rate,
    test_data: TestData,
    jobs: Type.Array(ChannelJob),
  },
  { $id: 'IntegrationDetail' },
);

const Deletion = Type.Object({
  id: Type.String(),
  name: MaybeText,
  done: Type.Integer({ description: 'Rows that are gone.' }),
  total: Type.Union([Type.Integer(), Type.Null()], { description: 'Null until they are counted.' }),
  error: MaybeText,
  created_at: Timestamp,
});

const Shown = Type.Object({ price: Type.Union([Money, Type.Null()]), photo_url: MaybeText });

const integrationParameter = Type.Object({ integration_id: Type.String() });

export const integrationOperations = {
  listIntegrations: operation({
    method: 'GET',
    path: '/integrations',
    access: 'staff',
    description:
      'All integrations of the dealer with their state, the currencies that they can have, and deletions under way.',
    response: Type.Object({
      data: Type.Array(Type.Object(summary)),
      currencies: Type.Array(Type.String()),
      deletions: Type.Array(Deletion),
    }),
  }),
  createIntegration: operation({
    method: 'POST',
    path: '/integrations',
    access: 'owner',
    description: 'Makes an integration in test mode. Its API key is answered this once.',
    body: Type.Object({ name: Name, currency: Currency }),
    response: Type.Object({ id: Type.String(), api_key: Type.String() }),
  }),
  getIntegration: operation({
    method: 'GET',
    path: '/integrations/{integration_id}',
    access: 'staff',
    description: 'Everything that the page of an integration shows.',
    params: integrationParameter,
    response: IntegrationDetail,
  }),
  getIntegrationUsage: operation({
    method: 'GET',
    path: '/integrations/{integration_id}/usage',
    access: 'staff',
    description: 'How much of its rate limit the client uses now, without spending any of it.',
    params: integrationParameter,
    response: Type.Object({ rate: Rate, last_used_at: MaybeTime }),
  }),
  updateIntegration: operation({
    method: 'PATCH',
    path: '/integrations/{integration_id}',
    access: 'staff',
    overQuota: 'reserve',
    description: 'Renames an integration, or switches it on or off. While it is off, its requests answer 403.',
    params: integrationParameter,
    body: Type.Object({ name: Type.Optional(Name), is_enabled: Type.Optional(Type.Boolean()) }),
    response: null,
  }),
  deleteIntegration: operation({
    method: 'DELETE',
    path: '/integrations/{integration_id}',
    access: 'owner',
    description: 'Deletes an integration for ever. Its key is unknown at once; a job removes the rest.',
    params: integrationParameter,
    body: Type.Object({ name: Type.String({ description: 'Its name, typed to confirm.' }) }),
    response: null,
  }),
  setTestMode: operation({
    method: 'PUT',
    path: '/integrations/{integration_id}/test-mode',
    access: 'owner',
    description: 'Goes live or back into test mode, and deletes the test data if that is wanted.',
    params: integrationParameter,
    body: Type.Object({ is_test_mode: Type.Boolean(), delete_test_data: Type.Optional(Type.Boolean()) }),
    response: Type.Object({ deleted: Type.Union([TestData, Type.Null()]) }),
  }),
  regenerateKey: operation({
    method: 'POST',
    path: '/integrations/{integration_id}/key',
    access: 'owner',
    overQuota: 'reserve',
    description: 'Makes a new API key, answered this once. The old one is unknown from the next request on.',
    params: integrationParameter,
    response: Type.Object({ api_key: Type.String() }),
  }),
  setWebhookUrl: operation({
    method: 'PUT',
    path: '/integrations/{integration_id}/webhook/url',
    access: 'owner',
    overQuota: 'reserve',
    description: 'Sets where webhooks go; null takes the URL away. The first URL comes with a signing secret.',
    params: integrationParameter,
    body: Type.Object({ url: Type.Union([Type.String({ maxLength: URL_LENGTH_LIMIT }), Type.Null()]) }),
    response: Type.Object({ url: MaybeText, secret: Type.Union([Type.String(), Type.Null()]) }),
  }),
  checkWebhook: operation({
    method: 'POST',
    path: '/integrations/{integration_id}/webhook/check',
    access: 'staff',
    waitsElsewhere: true,
    overQuota: 'served',
    description: 'Posts a signed test request to the webhook URL at once, and says how it was answered.',
    params: integrationParameter,
    response: Type.Object({
      url: Type.String(),
      is_success: Type.Boolean(),
      response_code: Type.Union([Type.Integer(), Type.Null()]),
      response_body: Type.Union([Type.String(), Type.Null()], { description: 'Its first bytes.' }),
      error: MaybeText,
      duration_ms: Type.Integer(),
    }),
  }),
  setWebhooksEnabled: operation({
    method: 'PUT',
    path: '/integrations/{integration_id}/webhook/enabled',
    access: 'staff',
    overQuota: 'reserve',
    description: 'Switches webhooks on or off. What is held while they are off is sent when they are on again.',
    params: integrationParameter,
    body: Type.Object({ is_enabled: Type.Boolean() }),
    response: null,
  }),
  setSubscriptions: operation({
    method: 'PUT',
    path: '/integrations/{integration_id}/webhook/events',
    access: 'staff',
    description: 'Sets which events are sent.',
    params: integrationParameter,
    body: Type.Object({
      subscribed_events: Type.Array(Type.String({ maxLength: 100 }), { maxItems: EVENT_NAMES_LIMIT }),
    }),
    response: null,
  }),
  rotateSecret: operation({
    method: 'POST',
    path: '/integrations/{integration_id}/webhook/secret',
    access: 'owner',
    overQuota: 'reserve',
    description: 'Makes a new signing secret, answered this once. Older ones also sign during the grace period.',
    params: integrationParameter,
    body: Type.Object({ grace_hours: Type.Integer({ minimum: 0, maximum: GRACE_MAX_HOURS }) }),
    response: Type.Object({ secret: Type.String() }),
  }),
  previewPresentation: operation({
    method: 'POST',
    path: '/integrations/{integration_id}/presentation/preview',
    access: 'staff',
    overQuota: 'served',
    description: 'What a change of prices and photos would do: five items before and after, and how many it touches.',
    params: integrationParameter,
    body: Presentation,
    response: Type.Object({
      items: Type.Array(
        Type.Object({
          id: Type.String(),
          kind: Kind,
          title: Type.String(),
          stock_number: Type.String(),
          thumbnail_url: MaybeText,
          before: Shown,
          after: Shown,
        }),
      ),
      touched: Type.Integer(),
      on_channel: Type.Integer(),
      is_rate_missing: Type.Boolean(),
    }),
  }),
  changePresentation: operation({
    method: 'PUT',
    path: '/integrations/{integration_id}/presentation',
    access: 'staff',
    description: 'Changes prices and photos of the channel. A job carries it into every item, with an event for each.',
    params: integrationParameter,
    body: Presentation,
    response: null,
  }),
  sendTestEvent: operation({
    method: 'POST',
    path: '/integrations/{integration_id}/test-event',
    access: 'staff',
    description: 'Sends a test event. While webhooks are off it is recorded without a delivery.',
    params: integrationParameter,
    response: Type.Object({ event_id: Type.String(), delivery_id: MaybeText }),
  }),
  getTestDelivery: operation({
    method: 'GET',
    path: '/integrations/{integration_id}/test-deliveries/{delivery_id}',
    access: 'staff',
    description: 'How the delivery of a test event goes.',
    params: Type.Object({ integration_id: Type.String(), delivery_id: Type.String() }),
    response: Type.Object({
      id: Type.String(),
      event_id: Type.String(),
      status: Type.Unsafe<'pending' | 'failed' | 'held' | 'dead_letter' | 'succeeded'>({
        type: 'string',
        enum: ['pending', 'failed', 'held', 'dead_letter', 'succeeded'],
      }),
      attempts: Type.Integer(),
      response_code: Type.Union([Type.Integer(), Type.Null()]),
      response_body: MaybeText,
      error: MaybeText,
      created_at: Timestamp,
      last_attempt_at: MaybeTime,
      next_attempt_at: MaybeTime,
    }),
  }),
};
