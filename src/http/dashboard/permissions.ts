import type { DashboardOperation } from '../../contract/dashboard/operation.ts';
import type { SignedIn } from './call.ts';
import { DashboardError } from './dashboard-error.ts';

/** Refuses a person who has no session, or whose role is not the one that the operation asks for (`access`). */
export function assertMayCall(operation: DashboardOperation, user: SignedIn | null): void {
  if (user === null) throw new DashboardError('unauthenticated', 'You are not signed in, or your session has ended.');
  if (operation.access === 'owner' && user.role !== 'owner') {
    throw new DashboardError('owner_only', 'Only owners may do this. Ask an owner of your team.');
  }
}
