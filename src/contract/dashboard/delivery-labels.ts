/**
 * Words and choices of the pages of deliveries and events. Apart from their schemas, so that pages which show a word do not
 * load the library of schemas.
 */

export const DELIVERY_STATUS_LABELS = {
  pending: 'On its way',
  failed: 'Retrying',
  held: 'Held',
  dead_letter: 'Dead letter',
  succeeded: 'Delivered',
} as const;
export type DeliveryStatusName = keyof typeof DELIVERY_STATUS_LABELS;

/** How the last attempt was answered. Codes are filtered by class, or one of them alone. */
export const RESPONSE_LABELS = {
  none: 'No answer',
  '2xx': '2xx success',
  '3xx': '3xx redirect',
  '4xx': '4xx refused',
  '5xx': '5xx failed',
} as const;

/** Why an event was recorded and not sent. */
export const UNSENT_REASON_LABELS = {
  echo: 'Suppressed',
  no_url: 'No webhook URL',
  not_subscribed: 'Not subscribed',
  test_deleted: 'Test data deleted',
  unknown: 'Not sent',
} as const;
export type UnsentReason = keyof typeof UNSENT_REASON_LABELS;

export const UNSENT_REASON_TEXTS: Readonly<Record<UnsentReason, string>> = {
  echo: 'The website made this change itself through the API, so it is not told of it again.',
  no_url: 'The integration had no webhook URL at that time. Events from before a URL is set are not sent later.',
  not_subscribed: 'The integration was not subscribed to this event at that time.',
  test_deleted: 'It was about a test order, and the test data was deleted before it was sent.',
  unknown: 'The integration had no webhook URL at that time, or was not subscribed to this event.',
};

/** What became of an event, as the list filters it. */
export const EVENT_OUTCOME_LABELS = { sent: 'Sent or on its way', ...UNSENT_REASON_LABELS } as const;
export type EventOutcome = keyof typeof EVENT_OUTCOME_LABELS;
