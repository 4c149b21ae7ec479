import { replaceModule } from './replace-module.ts';

/** Loaded before the service: it then logs API requests only while the benchmark has it on that side. */
replaceModule('src/http/logging/api-request-log.ts', 'bench/baselines/switched-request-log.ts');
