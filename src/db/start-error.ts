/** Something the operator has to put right before the service can start; its message is one clear line. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
