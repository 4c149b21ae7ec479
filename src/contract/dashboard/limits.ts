/** Limits that people meet in the dashboard. The public API's own are in contract/limits.ts. */
export const PASSWORD_MIN_LENGTH = 10;
export const PASSWORD_MAX_LENGTH = 128;
export const EMAIL_LENGTH_LIMIT = 254;
/** For how long a change, a job or the removal of a photo can be undone. */
export const UNDO_LIMIT_DAYS = 30;
/** Of a CSV file of stock. */
export const IMPORT_FILE_LIMIT_MB = 20;
export const IMPORT_LINES_LIMIT = 20_000;
/** Of a zip with photos beside it. */
export const IMPORT_ZIP_LIMIT_MB = 200;
