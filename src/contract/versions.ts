/** The newest dated version. An integration is pinned to it when it is created and keeps it until it is rolled. */
export const CURRENT_VERSION = '2026-05-07';

export type JsonObject = Record<string, unknown>;

/**
 * A dated version is a view on the one implementation: `present` turns a document of today's shape into the shape
 * that was promised under that date. It must leave `id`, `object` and `status` alone, and no other `price` may stand before the item's own.
 * A version that is not `presentAsIs` makes mass changes of prices render every document.
 */
export type ApiVersion = {
  date: string;
  present(document: JsonObject): JsonObject;
};

/** Every version an integration may be pinned to, oldest first. */
export const VERSIONS: readonly ApiVersion[] = [{ date: CURRENT_VERSION, present: presentAsIs }];

/** For a version whose shape is today's. */
export function presentAsIs(document: JsonObject): JsonObject {
  return document;
}
