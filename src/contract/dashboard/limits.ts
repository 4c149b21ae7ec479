/** Limits that people meet in the dashboard. The public API's own are in contract/limits.ts. */
export const PASSWORD_MIN_LENGTH = 10;
export const PASSWORD_MAX_LENGTH = 128;
export const EMAIL_LENGTH_LIMIT = 254;
/**
 * Of what needs no session: names, an email and a password. Anybody may send one, and a megabyte of names that nobody asked for takes
 * 50 ms to parse.
 */
export const PUBLIC_BODY_LIMIT_BYTES = 32_768;
/** For how long a change, a job or the removal of a photo can be undone. */
export const UNDO_LIMIT_DAYS = 30;
/** For how long a job that failed asks for attention. */
export const FAILED_JOB_DAYS = 7;
/** Of the prices of a channel. */
export const MARKUP_MIN_BASIS_POINTS = -9_900;
export const MARKUP_MAX_BASIS_POINTS = 100_000;
/** For how long webhooks can be signed with the old secret, too. */
export const GRACE_MAX_HOURS = 7 * 24;
/** The limits of a CSV file of stock. */
export const IMPORT_FILE_LIMIT_MB = 20;
export const IMPORT_LINES_LIMIT = 20_000;
/** The limits of a zip with photos for an import. */
export const IMPORT_ZIP_LIMIT_MB = 200;
/** How many zips a dealer can have for imports that wait or run. Each takes its size in the database. */
export const ZIPS_IN_USE_LIMIT = 2;

/** What one dealer can have at the same time. One more is refused with `limit_reached`. */
export const TEAM_MEMBERS_LIMIT = 500;
export const OPEN_INVITATIONS_LIMIT = 100;
export const BUSINESS_UNITS_LIMIT = 200;
export const LOCATIONS_LIMIT = 1_000;
/** An operator can make more by the command line. */
export const INTEGRATIONS_LIMIT = 100;
/** Jobs on stock that wait or run; one more is refused with `too_many_jobs`. */
export const UNFINISHED_JOBS_LIMIT = 20;
/** How many promotions one item can have, including those that have ended. */
export const PROMOTIONS_PER_ITEM_LIMIT = 200;
/** How many views one person can save, over all lists. */
export const VIEWS_LIMIT = 100;
/** How many sessions one person can have. Another sign-in ends the least recently used one. */
export const SESSIONS_LIMIT = 50;

/**
 * How many requests one session, one person, and one address without a session may send to one process: a burst, then a
 * rate per second. One more is answered with 429 `too_many_requests`. This is the first check after that of the
 * request's origin.
 */
export const REQUESTS_AT_ONCE = 2_000;
export const REQUESTS_PER_SECOND = 50;

/** How many pages may be open at a time on one process. Each has a live stream. */
export const STREAMS_PER_PERSON_LIMIT = 40;
export const STREAMS_PER_DEALER_LIMIT = 200;

/**
 * What the people of one dealer may store in a UTC day, in times of the operator's quota: `DASHBOARD_STORAGE_QUOTA_MB_PER_DAY`,
 * or the dealer's own. Past it, an operation answers 429 `storage_quota_exceeded` with `Retry-After` until the next day. This
 * is the last check before the body is read. `OverQuota` of operation.ts says which operations are refused when.
 */
export const STORAGE_QUOTA_TIMES = { refused: 1, reserve: 2 } as const;

/** New dealers that sign up from one address within 15 minutes. */
export const SIGN_UPS_PER_ADDRESS_LIMIT = 30;

/** Of the code by which a person confirms that mail reaches them, in hexadecimal digits. */
export const MAIL_CODE_LENGTH = 16;

/** To all people of one dealer, within 24 hours. What is new then waits for a later mail. */
export const MAILS_PER_DAY_LIMIT = 1_000;

/**
 * Of all files that are uploaded to one process at the same time, after their first 8 MB. Dealers have equal shares. Zips
 * are stored in the database, and every commit waits until what was written before it is on the disk.
 */
export const UPLOAD_BYTES_PER_SECOND = 8_388_608;

/**
 * How slowly one file may come, on average. A file takes one of the slots for uploads only when its first bytes, or all of
 * it, have come. One that is slower is answered with 408 `request_timeout`: 16 files that came byte by byte kept everybody's out.
 */
export const UPLOAD_LEAST_BYTES_PER_SECOND = 16_384;
export const UPLOAD_GRACE_SECONDS = 10;
export const UPLOAD_FIRST_BYTES = 65_536;
