/** The queue of the job library that the delivery worker is measured against. */
export const QUEUE = 'webhooks';
export type WebhookJob = { eventId: string; body: string };
