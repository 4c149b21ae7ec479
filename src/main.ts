import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { collectBuffersLessOften } from './service/garbage-collection.ts';

// Keeps compiled code, so that the next start need not compile it: that was half of a start's 4.3 s of CPU. It must be on before
// anything else is loaded. Where the folder can't be written, the service starts without.
enableCompileCache(join(import.meta.dirname, '..', 'node_modules', '.cache', 'crownwheel'));

collectBuffersLessOften();
const { runService } = await import('./service/run-service.ts');
await runService();
process.exit();
