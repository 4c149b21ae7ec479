import type { OrderStatus } from '../../states/order-states.ts';

/**
 * Tabs, choices and labels of the pages of orders and sales. They are kept apart from the schemas, so that a page that
 * shows a label does not load the schema library.
 */

/** The tabs of the list, each with the statuses that it shows. */
export const ORDER_TABS = {
  queue: ['received'],
  matched: ['matched'],
  fulfilled: ['fulfilled'],
  cancelled: ['cancelled'],
  all: ['received', 'matched', 'fulfilled', 'cancelled'],
} as const;
export type OrderTab = keyof typeof ORDER_TABS;

/**
 * The dealer's words for the statuses. "Matched" is said of lines: an order whose lines are all matched still waits to be
 * confirmed, and one that reads `matched` was.
 */
export const ORDER_STATUS_LABELS = {
  received: 'In the queue',
  matched: 'Confirmed',
  fulfilled: 'Fulfilled',
  cancelled: 'Cancelled',
} as const satisfies Record<OrderStatus, string>;

/** Whether a list shows test data. Without it, the setting of the person's account applies. */
export const TEST_DATA_LABELS = { hide: 'Live only', show: 'Live and test', only: 'Test only' } as const;
export type TestData = keyof typeof TEST_DATA_LABELS;

/** How far back a list goes. */
export const PERIODS = {
  day: { label: 'Last 24 hours', days: 1 },
  week: { label: 'Last 7 days', days: 7 },
  month: { label: 'Last 30 days', days: 30 },
  year: { label: 'Last 12 months', days: 365 },
} as const;
export type Period = keyof typeof PERIODS;

export const ORDER_SORTS = ['-created', 'created'] as const;

/** Why a line is matched to no item, as it stands now. */
export const UNMATCHED_REASON_LABELS = {
  unnamed: 'Not named',
  unknown: 'Unknown',
  off_channel: 'Not on this channel',
  taken: 'Taken',
  sold: 'Taken',
  too_few: 'Too few',
  free: 'Free again',
} as const;
export type UnmatchedReason = keyof typeof UNMATCHED_REASON_LABELS;

/** Why an item is suggested for a line. */
export const SUGGESTION_REASONS = ['id', 'stock_number', 'reference', 'price'] as const;
export type SuggestionReason = (typeof SUGGESTION_REASONS)[number];

/** The channel of a sale that no integration reported. */
export const COUNTER = 'counter';

export const SALE_TABS = { completed: ['completed'], voided: ['voided'], all: ['completed', 'voided'] } as const;
export type SaleTab = keyof typeof SALE_TABS;

export const SALE_SORTS = ['-created', 'created'] as const;
