import { keepCompiledCode } from './service/compile-cache.ts';
import { enlargeThreadPool } from './service/thread-pool.ts';

enlargeThreadPool();
keepCompiledCode();
const { runService } = await import('./service/run-service.ts');
const { endProcess } = await import('./service/shutdown/end-process.ts');
await runService();
await endProcess();
