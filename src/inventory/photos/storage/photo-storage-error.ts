/**
 * The storage of photos failed, or did not answer in time. It is foreseen, so it is never a 500: whoever asked is told to try
 * again. What went wrong is the message, for the operator.
 */
export class PhotoStorageError extends Error {
  override readonly name = 'PhotoStorageError';
  /** It may be over by itself. A storage that refuses, as with a wrong key, has to be set right by the operator. */
  readonly isTemporary: boolean;

  constructor(message: string, { isTemporary, cause }: { isTemporary: boolean; cause?: unknown }) {
    super(message, { cause });
    this.isTemporary = isTemporary;
  }
}

/** What people read. */
export const STORAGE_FAILED = 'The storage of photos does not answer. Try again in a minute.';

/** Any error of a storage as one of ours. */
export function storageError(error: unknown): PhotoStorageError {
  if (error instanceof PhotoStorageError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new PhotoStorageError(message, { isTemporary: isTemporary(error), cause: error });
}

const NETWORK_CODES = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ETIMEDOUT',
]);
const REQUEST_TIMEOUT = 408;
const TOO_MANY_REQUESTS = 429;

function isTemporary(error: unknown): boolean {
  const { code, name, $metadata } = error as { code?: string; name?: string; $metadata?: { httpStatusCode?: number } };
  const status = $metadata?.httpStatusCode;
  if (status !== undefined) return status >= 500 || status === REQUEST_TIMEOUT || status === TOO_MANY_REQUESTS;
  return name === 'TimeoutError' || NETWORK_CODES.has(code ?? '');
}
