import Type, { type Static } from 'typebox';
import { GONE_LIMIT, RATE_LIMIT_DEFAULT } from '../limits.ts';
import { CURRENT_VERSION } from '../versions.ts';
import { CurrencyCode, Nullable, Timestamp, timestampExample } from './common.ts';

const IntegrationWebhook = Type.Object(
  {
    url: Nullable(Type.String({ format: 'uri' }), 'Where webhooks are posted; null until the dealer sets it.'),
    is_enabled: Type.Boolean({
      description: `False after the dealer turned webhooks off, or after ${GONE_LIMIT} answers of 410 in a row did.`,
    }),
    last_success_at: Nullable(Timestamp, 'When a delivery last succeeded.'),
    last_failure_at: Nullable(Timestamp, 'When an attempt last failed.'),
    consecutive_failures: Type.Integer({ minimum: 0, description: 'Failed attempts since the last success.' }),
  },
  { description: 'The state of the webhook receiver.' },
);

export const Integration = Type.Object(
  {
    object: Type.Literal('integration'),
    id: Type.String({ description: 'Id of the integration that owns the API key.' }),
    user_id: Nullable(Type.String(), 'The dealer’s user who made the integration.'),
    organization_id: Type.String({ description: 'The dealer.' }),
    name: Type.String({ description: 'What the dealer calls it.' }),
    is_enabled: Type.Boolean({ description: 'Whether it is served; the dealer can switch it off.' }),
    is_test_mode: Type.Boolean({
      description: 'On for a new integration. Events carry `livemode: false` while it is on.',
    }),
    api_version: Type.String({ description: 'The version this integration is pinned to.' }),
    currency: CurrencyCode('ISO 4217 code of the currency that prices are in.'),
    subscribed_events: Type.Array(Type.String(), { description: 'Event names and wildcards; `*` is everything.' }),
    rate_limit: Type.Object(
      { limit: Type.Integer({ minimum: 1, description: 'Tokens in any 60 seconds.' }) },
      { description: 'What this integration may spend.' },
    ),
    webhook: IntegrationWebhook,
  },
  { $id: 'Integration', description: 'The integration that the API key belongs to.' },
);
export type Integration = Static<typeof Integration>;

export const integrationExample: Integration = {
  object: 'integration',
  id: 'int_01h455vb4pex5vsknk084sn02q',
  user_id: 'usr_01h455vb4pex5vsknk084sn02q',
  organization_id: 'org_01h455vb4pex5vsknk084sn02q',
  name: 'Main website',
  is_enabled: true,
  is_test_mode: true,
  api_version: CURRENT_VERSION,
  currency: 'USD',
  subscribed_events: ['*'],
  rate_limit: { limit: RATE_LIMIT_DEFAULT },
  webhook: {
    url: 'https://shop.example/webhooks/crownwheel',
    is_enabled: true,
    last_success_at: timestampExample,
    last_failure_at: null,
    consecutive_failures: 0,
  },
};
