/** Every limit a client can meet, in one place: validation, OpenAPI and the docs all read these. */
export const BODY_LIMIT_BYTES = 1_048_576;
export const BULK_BODY_LIMIT_BYTES = 10_485_760;
/** Deeper than the JSON of any real request. Keeps recursive code from overflowing the stack. */
export const JSON_DEPTH_LIMIT = 64;
export const HEADERS_LIMIT_BYTES = 16_384;
/** Browsers and proxies together send fifty at most. */
export const HEADERS_LIMIT = 200;
/** Open connections of one client to one process; the operator can set another number. */
export const CONNECTIONS_PER_ADDRESS_DEFAULT = 500;
/** Open connections of all clients to one process; fewer if the system lets it have fewer files open. */
export const CONNECTIONS_LIMIT = 20_000;
/** Requests that one connection may send before it has read the answers to those before them. */
export const UNANSWERED_REQUESTS_LIMIT = 16;

export const RATE_LIMIT_DEFAULT = 600;
export const RATE_LIMIT_OVERRIDE_MAX = 10_000_000;
export const RATE_WINDOW_MS = 60_000;

export const BYTES_PER_MB = 1_048_576;
/** Bytes that one integration may store in a UTC day; the operator can set another quota. */
export const STORAGE_QUOTA_DEFAULT_MB_PER_DAY = 10_240;
export const STORAGE_QUOTA_MAX_MB_PER_DAY = 100_000_000;
/** How many times one integration's quota all integrations of a dealer may store, and how many times its requests are logged. */
export const DEALER_QUOTA_TIMES = 10;
/** Bytes that one dealer may store in a UTC day by the dashboard; the operator can set another quota. */
export const DASHBOARD_STORAGE_QUOTA_DEFAULT_MB_PER_DAY = 102_400;
/** What a write counts at least, besides its body and its answer: rows and indexes. */
export const COUNTED_BYTES_PER_WRITE = 1_024;

export const IDEMPOTENCY_KEY_LENGTH_LIMIT = 255;
export const IDEMPOTENCY_RETENTION_HOURS = 24;
export const STRING_LENGTH_LIMIT = 500;
export const CHANNEL_ORDER_ID_LENGTH_LIMIT = 255;
/** The largest amount, in minor units of any currency. */
export const AMOUNT_LIMIT = 1_000_000_000_000;
export const STOCK_NUMBER_LENGTH_LIMIT = 100;
export const DESCRIPTION_LENGTH_LIMIT = 20_000;
/** The most units of one item, including those that are reserved. */
export const UNITS_LIMIT = 1_000_000;
export const PHOTOS_PER_ITEM_LIMIT = 50;
export const PHOTO_LIMIT_BYTES = 25 * BYTES_PER_MB;
/** Of an upload. An AVIF of 100 megapixels takes 1.7 GB while it is decoded, a JPEG 0.4. */
export const PHOTO_PIXELS_LIMIT = 100_000_000;
export const AVIF_PIXELS_LIMIT = 50_000_000;
/** A larger upload is scaled down to this before it is stored: as AVIF it takes 0.9 GB of memory while it is encoded. */
export const PHOTO_STORED_PIXELS = 24_000_000;
export const ORDER_LINES_LIMIT = 200;
export const LINE_QUANTITY_LIMIT = 10_000;
/** Reservations that are active at the same time, of one integration. */
export const ACTIVE_RESERVATIONS_LIMIT = 100;
export const RESERVATION_TTL_MIN_SECONDS = 60;
export const RESERVATION_TTL_MAX_SECONDS = 3_600;
export const RESERVATION_TTL_DEFAULT_SECONDS = 900;
/** Counted from when the reservation was made, however often it is extended. */
export const RESERVATION_LIFETIME_LIMIT_SECONDS = 7_200;
export const RESERVATION_REFERENCE_LENGTH_LIMIT = 255;
/** How long a reservation that is no longer active can be read. */
export const RESERVATION_RETENTION_DAYS = 30;
/** The size of the compact JSON. */
export const METADATA_LIMIT_BYTES = 10_000;
export const BULK_RECORDS_LIMIT = 1_000;

export const PAGE_LIMIT_DEFAULT = 50;
export const PAGE_LIMIT_MAX = 250;
/** How many ids one read by `ids` may name. */
export const READ_IDS_LIMIT = 250;

/** How many answers of 410 Gone in a row turn the webhooks of an integration off. */
export const GONE_LIMIT = 5;
/** Of what follows the head of an answer to a webhook no more is read; the answer counts. */
export const WEBHOOK_RESPONSE_BODY_LIMIT_BYTES = 16_384;
/** All names and values of the headers. */
export const WEBHOOK_RESPONSE_HEADERS_LIMIT_BYTES = 16_384;
/** All lines before the body, those of 1xx answers included. */
export const WEBHOOK_RESPONSE_HEAD_LINES_LIMIT = 256;
/** All bytes before the body, those of 1xx answers included. */
export const WEBHOOK_RESPONSE_HEAD_LIMIT_BYTES = 65_536;
/** In how many pieces an answer may come from the network, or from TLS. Each costs time, even if it is one byte. */
export const WEBHOOK_RESPONSE_PIECES_LIMIT = 1_024;
/** All bytes of a receiver until its TLS connection stands, most of which are certificates. */
export const TLS_HANDSHAKE_LIMIT_BYTES = 12_288;
/** How much time of a processor a dealer's receivers may take by TLS and DNS that are not as usual, once and then in each second. */
export const RECEIVER_TIME_BURST_MS = 50;
export const RECEIVER_TIME_MS_PER_SECOND = 50;
/** How many addresses of a receiver's name are used, of IPv4 and of IPv6 each. */
export const RECEIVER_ADDRESSES_LIMIT = 8;
/** How long they are used before the name is looked up again. Less than the wait before the first retry, which asks anew. */
export const DNS_ANSWER_KEPT_SECONDS = 4;
/** How far back the events of an integration can be read. */
export const EVENT_LOG_DAYS = 30;
/** How long API requests can be looked up. */
export const REQUEST_LOG_DAYS = 7;
/**
 * How many requests a minute of one integration each process logs, and `DEALER_QUOTA_TIMES` as many of all that a dealer has; the
 * others are counted. Writes that succeed are always logged: the rate limit and the storage quota bound them. A 429 passes
 * neither, and a client in a loop sends many.
 */
export const LOGGED_READS_PER_MINUTE = 600;
export const LOGGED_ERRORS_PER_MINUTE = 600;
export const LOGGED_429_PER_MINUTE = 60;

/** Of the header that names ignored fields: how many it names, and its bytes without the sign that there are more. */
export const IGNORED_NAMES_LIMIT = 20;
export const IGNORED_BYTES_LIMIT = 1_000;

/** How long a read waits for a slot among the reads of the same integration before it is `overloaded`. */
export const READ_WAIT_LIMIT_MS = 5_000;
export const OVERLOADED_RETRY_SECONDS = 1;
/** When the disk is nearly full: somebody has to make room, which takes longer than a busy moment. */
export const DISK_FULL_RETRY_SECONDS = 60;
/** Of all pages of more than 2 MiB that one process sends at the same time. Integrations have equal shares. */
export const LARGE_PAGE_BYTES_PER_SECOND = 16 * BYTES_PER_MB;
/** Of all bodies of more than 128 KiB that one process reads at the same time. Integrations have equal shares. */
export const LARGE_BODY_BYTES_PER_SECOND = 16 * BYTES_PER_MB;
/** How long a client may take for an answer of up to 2 MiB, or for each 256 KiB of a larger one. One that reads slower is cut. */
export const ANSWER_PIECE_LIMIT_MS = 30_000;
