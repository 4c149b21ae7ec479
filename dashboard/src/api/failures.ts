import { toastError } from '../ui/feedback/toasts.ts';
import { ApiFailure } from './client.ts';

/**
 * Shows why a call failed that a page made itself. A session that has ended is asked for by the shell; everything else is a
 * toast. What is no failure of the service is a fault of the page and goes on.
 */
export function showFailure(error: unknown): void {
  if (!(error instanceof ApiFailure)) throw error;
  if (error.code !== 'unauthenticated') toastError(error);
}
