/** Limits that people meet in the dashboard. The public API's own are in contract/limits.ts. */
export const PASSWORD_MIN_LENGTH = 10;
export const PASSWORD_MAX_LENGTH = 128;
export const EMAIL_LENGTH_LIMIT = 254;
