import { keepCompiledCode } from './service/compile-cache.ts';
import { collectBuffersLessOften } from './service/garbage-collection.ts';

collectBuffersLessOften();
keepCompiledCode();
const { runService } = await import('./service/run-service.ts');
await runService();
process.exit();
