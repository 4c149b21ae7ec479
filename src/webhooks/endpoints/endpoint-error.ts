/** Why a setting of a receiver was refused. */
export class EndpointError extends Error {
  override readonly name = 'EndpointError';
}
