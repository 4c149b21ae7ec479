import { ApiError } from '../contract/errors.ts';
import { loggedPath } from './request-url.ts';

const CONTROL_CHARACTERS = /\p{Cc}/gu;

/** Names the method and the path, so that a typo is seen in the message. */
export function routeNotFound({ method, url }: { method: string; url: string }): ApiError {
  const path = loggedPath(url).replaceAll(CONTROL_CHARACTERS, '');
  return new ApiError('route_not_found', { message: `There is no endpoint ${method} ${path}.` });
}
