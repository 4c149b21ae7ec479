import { LRUCache } from 'lru-cache';

/**
 * Bytes that never go stale: documents keyed by item and stamp, whole answers keyed by the clock. One size limit covers
 * all of them, keys included; the least recently used go first.
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
