/** The time ranges of the plots on the home page, and the step of each. */
export const HOME_RANGES = {
  '24h': { label: '24 hours', unit: 'hour', length: 24 },
  '7d': { label: '7 days', unit: 'day', length: 7 },
  '30d': { label: '30 days', unit: 'day', length: 30 },
} as const;
export type HomeRange = keyof typeof HOME_RANGES;
export const HOME_RANGE_NAMES = Object.keys(HOME_RANGES) as HomeRange[];
export const DEFAULT_HOME_RANGE: HomeRange = '7d';

/** The ranges of age that the home page shows for stock, by the day on which each begins. */
export const STOCK_AGE_DAYS = [0, 31, 91, 181] as const;
