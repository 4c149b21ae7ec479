/** A problem that the operator has to fix before the service can start. Its message is one clear line. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
