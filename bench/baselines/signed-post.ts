import { Agent, request } from 'undici';
import { signature } from '../../src/webhooks/sending/signature.ts';

export const CONNECTIONS = 64;
const SECRET = `whsec_${'x'.repeat(32)}`;

export type SignedPoster = {
  /** Signs a body, posts it with the headers of a webhook, and reads the answer to its end. */
  post(webhook: { eventId: string; body: string }): Promise<void>;
  close(): Promise<void>;
};

/** What every baseline does with a webhook, so that they differ only in where the webhooks come from. */
export function createSignedPoster(url: string): SignedPoster {
  const agent = new Agent({ connections: CONNECTIONS, allowH2: false });
  return {
    async post({ eventId, body }) {
      const response = await request(url, {
        method: 'POST',
        dispatcher: agent,
        body,
        headers: {
          'Content-Type': 'application/json',
          'X-SVC-Signature': signature([SECRET], Math.floor(Date.now() / 1000), body),
          'X-SVC-Event-Id': eventId,
          'X-SVC-Event-Type': 'listing.updated',
          'X-SVC-Delivery-Id': 'dlv_baseline',
          'X-SVC-Delivery-Attempt': '1',
        },
      });
      await response.body.dump();
    },
    close: () => agent.close(),
  };
}
