import Type from 'typebox';
import { EMAIL_LENGTH_LIMIT } from '../limits.ts';
import { operation } from '../operation.ts';
import { TeamRole } from './session.ts';

const Timestamp = Type.String({ format: 'date-time' });

const Member = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    email: Type.String(),
    role: TeamRole,
    created_at: Timestamp,
    last_seen_at: Type.Union([Timestamp, Type.Null()]),
  },
  { $id: 'Member' },
);

const Invitation = Type.Object(
  { id: Type.String(), email: Type.String(), role: TeamRole, expires_at: Timestamp },
  { $id: 'Invitation' },
);

const OneTimeLink = Type.Object(
  { url: Type.String({ description: 'Shown this once.' }), expires_at: Timestamp },
  { $id: 'OneTimeLink' },
);

const memberParameter = Type.Object({ user_id: Type.String() });

export const teamOperations = {
  listTeam: operation({
    method: 'GET',
    path: '/team',
    access: 'staff',
    description: 'The people of this dealer, and open invitations.',
    response: Type.Object({ members: Type.Array(Member), invitations: Type.Array(Invitation) }),
  }),
  inviteMember: operation({
    method: 'POST',
    path: '/team/invitations',
    access: 'owner',
    description:
      'Makes a one-time link with which somebody joins the team. It replaces an older one for the same address.',
    body: Type.Object({ email: Type.String({ minLength: 3, maxLength: EMAIL_LENGTH_LIMIT }), role: TeamRole }),
    response: OneTimeLink,
  }),
  withdrawInvitation: operation({
    method: 'DELETE',
    path: '/team/invitations/{invitation_id}',
    access: 'owner',
    description: 'Makes an open invitation useless.',
    params: Type.Object({ invitation_id: Type.String() }),
    response: null,
  }),
  changeRole: operation({
    method: 'PATCH',
    path: '/team/{user_id}',
    access: 'owner',
    overQuota: 'reserve',
    description: 'Makes somebody owner or staff. The last owner stays one.',
    params: memberParameter,
    body: Type.Object({ role: TeamRole }),
    response: Member,
  }),
  removeMember: operation({
    method: 'DELETE',
    path: '/team/{user_id}',
    access: 'owner',
    description: 'Removes somebody from the team and ends their sessions. The last owner stays.',
    params: memberParameter,
    response: null,
  }),
  makeResetLink: operation({
    method: 'POST',
    path: '/team/{user_id}/reset-link',
    access: 'owner',
    overQuota: 'reserve',
    description: 'Makes a one-time link with which somebody sets a new password.',
    params: memberParameter,
    response: OneTimeLink,
  }),
};
