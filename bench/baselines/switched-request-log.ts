import * as real from '../../src/http/logging/api-request-log.ts';
import { followSide } from './side-switch.ts';

export function createApiRequestLog(...args: Parameters<typeof real.createApiRequestLog>): real.ApiRequestLog {
  const log = real.createApiRequestLog(...args);
  const side = followSide();
  return {
    note(integrationId, request, response, record) {
      if (side.isWith()) log.note(integrationId, request, response, record);
    },
    stop: log.stop,
  };
}
