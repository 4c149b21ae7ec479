import { replaceModule } from './replace-module.ts';

/** Loaded before the service: it then logs no API requests. */
replaceModule('src/http/logging/api-request-log.ts', 'bench/baselines/no-request-log.ts');
