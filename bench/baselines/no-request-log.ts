import type { ApiRequestLog } from '../../src/http/logging/api-request-log.ts';

export function createApiRequestLog(): ApiRequestLog {
  return { note: () => {}, stop: async () => {} };
}
