import { keepCompiledCode } from './service/compile-cache.ts';
import { collectBuffersLessOften } from './service/garbage-collection.ts';
import { enlargeThreadPool } from './service/thread-pool.ts';

enlargeThreadPool();
collectBuffersLessOften();
keepCompiledCode();
const { runService } = await import('./service/run-service.ts');
const { endProcess } = await import('./service/shutdown/end-process.ts');
await runService();
await endProcess();
