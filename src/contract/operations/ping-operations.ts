import { Ping, PingInput, pingExample } from '../resources/ping.ts';
import { type Operation, write } from './operation.ts';

export const pingOperations = {
  pingWebhook: write({
    id: 'pingWebhook',
    path: '/v1/test/webhook_ping',
    tag: 'Integration',
    summary: 'Fire a test webhook',
    description:
      'Sends `integration.test_event` to the configured URL, whatever the subscriptions. With no URL, or with webhooks off, nothing is enqueued. While the integration is in test mode, `type` sends any other event instead, as the real one would be and with `livemode: false`; nothing else happens.',
    cost: 1,
    body: PingInput,
    bodyExample: {},
    isBodyOptional: true,
    success: { status: 200, description: 'What was enqueued.', schema: Ping, example: pingExample },
    errors: ['listing_not_found', 'part_not_found', 'order_not_found', 'ping_failed'],
  }),
} as const satisfies Record<string, Operation>;
