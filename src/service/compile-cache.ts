import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

const CACHE_DIR = join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'crownwheel');

/**
 * Keeps compiled code, so that the next start need not compile it: that was half of a start's 4.3 s of CPU. It must be on before
 * anything else is loaded. Where the folder can't be written, everything is compiled again.
 *
 * V8 rejects code that was compiled under other flags, and what rejects it writes its own in the same place. So set none before
 * everything is loaded (garbage-collection.ts).
 */
export function keepCompiledCode(): void {
  enableCompileCache(CACHE_DIR);
}
