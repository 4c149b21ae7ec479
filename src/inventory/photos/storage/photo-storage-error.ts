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
  return new PhotoStorageError(messageOf(error), { isTemporary: isTemporary(error), cause: error });
}

/** What the client of S3 says if the answer is not one of S3; it goes on about the insides of the client. */
const NO_ANSWER_OF_S3 = /Deserialization error|XML parse error/;

/** In words for the operator, where the client of S3 has none. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, name, message } = error as NodeJS.ErrnoException;
  if (NO_ANSWER_OF_S3.test(message)) return notS3(`HTTP ${httpStatusOf(error) ?? 'of an unknown status'}`);
  // What is no HTTP at all.
  if (code?.startsWith('HPE_')) return notS3('no HTTP');
  // An answer without a body.
  if (name === 'Unknown') return `the storage answered HTTP ${httpStatusOf(error) ?? ''} and did not say why`;
  return message;
}

/** Something else answers there, such as a website, a proxy or the console of the storage. */
export function notS3(answer: string): string {
  return `what answers at PHOTO_S3_ENDPOINT is no S3 storage: its answer (${answer}) is not one of S3`;
}

/** An answer that could not be read has its status elsewhere. */
function httpStatusOf(error: unknown): number | undefined {
  const { $metadata, $response } = error as {
    $metadata?: { httpStatusCode?: number };
    $response?: { statusCode?: number };
  };
  return $metadata?.httpStatusCode ?? $response?.statusCode;
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
  const { code, name } = error as { code?: string; name?: string };
  const status = httpStatusOf(error);
  if (status !== undefined) return status >= 500 || status === REQUEST_TIMEOUT || status === TOO_MANY_REQUESTS;
  return name === 'TimeoutError' || NETWORK_CODES.has(code ?? '');
}
