/** The queue of the job library that the engine is measured against. */
export const QUEUE = 'webhooks';
export type WebhookJob = { eventId: string; body: string };
