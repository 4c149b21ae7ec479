/** The newest dated version. An integration is pinned to it when it is created and keeps it until it is rolled. */
export const CURRENT_VERSION = '2026-05-07';

/** Every version an integration may be pinned to, oldest first. */
export const VERSIONS: readonly string[] = [CURRENT_VERSION];
