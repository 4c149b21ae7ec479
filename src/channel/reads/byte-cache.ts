import { LRUCache } from 'lru-cache';

/**
 * Entries in memory up to a limit of bytes, keys included; the least recently used go first. Whether an entry is still true
 * is up to the caller: documents have their stamp in the key and never go stale, whole answers carry the clock under
 * which they were made, and it is compared when they are found.
 */
export type ByteCache<Entry extends { size: number }> = {
  get(key: string): Entry | undefined;
  set(key: string, entry: Entry): void;
};

const ENTRY_OVERHEAD_BYTES = 300;

export function createByteCache<Entry extends { size: number }>(maxBytes: number): ByteCache<Entry> {
  const cache = new LRUCache<string, Entry>({
    maxSize: maxBytes,
    maxEntrySize: Math.max(1, Math.floor(maxBytes / 4)),
    sizeCalculation: (entry, key) => entry.size + key.length + ENTRY_OVERHEAD_BYTES,
  });
  return { get: (key) => cache.get(key), set: (key, entry) => void cache.set(key, entry) };
}
