/**
 * Labels and choices of the pages of deliveries and events. They are kept apart from the schemas, so that a page that
 * shows a label does not load the schema library.
 */

export const DELIVERY_STATUS_LABELS = {
  pending: 'On its way',
  failed: 'Retrying',
  held: 'Held',
  dead_letter: 'Dead letter',
  succeeded: 'Delivered',
} as const;
export type DeliveryStatusName = keyof typeof DELIVERY_STATUS_LABELS;

/** How the last attempt was answered. The list filters by a class of status codes, or by one code. */
export const RESPONSE_LABELS = {
  none: 'No answer',
  '2xx': '2xx success',
  '3xx': '3xx redirect',
  '4xx': '4xx refused',
  '5xx': '5xx failed',
} as const;

/** Status codes that receivers often answer with, for the filter by one code. */
export const COMMON_RESPONSE_CODES = [
  400, 401, 403, 404, 405, 408, 410, 413, 415, 422, 429, 500, 502, 503, 504,
] as const;

/** Why an event was recorded and not sent. */
export const UNSENT_REASON_LABELS = {
  echo: 'Suppressed: own change',
  no_url: 'Not sent: no webhook URL',
  not_subscribed: 'Not sent: not subscribed',
  test_deleted: 'Not sent: test data deleted',
  unknown: 'Not sent',
} as const;
export type UnsentReason = keyof typeof UNSENT_REASON_LABELS;

export const UNSENT_REASON_TEXTS: Readonly<Record<UnsentReason, string>> = {
  echo: 'The website caused this change itself through the API: it reported or cancelled an order, or reserved the item. It is not told of its own changes.',
  no_url: 'The integration had no webhook URL at that time. Events from before a URL is set are not sent later.',
  not_subscribed:
    'The integration was not subscribed to this event at that time. If you subscribe now, only later events are sent.',
  test_deleted: 'It was about a test order, and the test data was deleted before it was sent.',
  unknown: 'The integration had no webhook URL at that time, or was not subscribed to this event.',
};

/** What became of an event, as the list filters it. */
export const EVENT_OUTCOME_LABELS = { sent: 'Sent or on its way', ...UNSENT_REASON_LABELS } as const;
export type EventOutcome = keyof typeof EVENT_OUTCOME_LABELS;
