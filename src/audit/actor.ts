/** What a person of the dealer may do. */
export type TeamRole = 'owner' | 'staff';

/**
 * Who does something. Every operation that changes data takes an actor, and the audit log says who it was. Writes by an
 * API key have no audit row: their request id stands in the log of requests and in the record of their idempotency key.
 */
export type Actor =
  /** The address is the IP address of the request. */
  | { kind: 'person'; userId: string; role: TeamRole; address: string | null }
  | { kind: 'api_key'; integrationId: string; requestId: string }
  | { kind: 'command_line' }
  /** A background job, or a program such as the demo's seed. */
  | { kind: 'job'; name: string };

export const COMMAND_LINE: Actor = { kind: 'command_line' };
