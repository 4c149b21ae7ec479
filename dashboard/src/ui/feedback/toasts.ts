import { notifications } from '@mantine/notifications';
import type { ApiFailure } from '../../api/client.ts';

const ERROR_SHOWN_MS = 10_000;

/** `title` says what the message is about, if that is not plain. */
export function toastSuccess(message: string, title?: string): void {
  notifications.show({ title, message, color: 'jade' });
}

/** With the request's id, which support finds in the log. */
export function toastError(error: ApiFailure): void {
  const isOurs = error.status >= 500 && error.requestId !== undefined;
  notifications.show({
    message: isOurs ? `${error.message} (${error.requestId})` : error.message,
    color: 'ruby',
    autoClose: ERROR_SHOWN_MS,
  });
}
