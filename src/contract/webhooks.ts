import { eventExample } from './resources/event.ts';

/** The headers of every webhook, and what a receiver does with them. */
export const WEBHOOK_HEADERS = {
  'Content-Type': { meaning: 'The body is always JSON.', example: 'application/json' },
  'X-SVC-Signature': {
    meaning: 'The time of the attempt and its signatures. Check it before you believe anything else.',
    example: 't=1778230800,v1=5f2b…',
  },
  'X-SVC-Event-Id': {
    meaning: 'The event’s `id`, the same on every attempt: de-duplicate on it.',
    example: eventExample.id,
  },
  'X-SVC-Event-Type': {
    meaning: 'The event’s `type`, for routing without reading the body.',
    example: eventExample.type,
  },
  'X-SVC-Delivery-Id': {
    meaning: 'Names this one attempt, for support. The first carries the `delivery_id` that a ping answered.',
    example: 'dlv_01h455vb4pex5vsknk084sn02q',
  },
  'X-SVC-Delivery-Attempt': { meaning: 'Which attempt it is, from 1.', example: '1' },
} as const;
export type WebhookHeader = keyof typeof WEBHOOK_HEADERS;

/** How far a receiver lets the time of a signature differ from its own. */
export const SIGNATURE_TOLERANCE_SECONDS = 300;
