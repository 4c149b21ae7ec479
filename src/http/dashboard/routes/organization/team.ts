import type { teamOperations } from '../../../../contract/dashboard/organization/team.ts';
import {
  inviteMember,
  linkUrl,
  listInvitations,
  makeResetLink,
  type NewLink,
  withdrawInvitation,
} from '../../../../dealers/users/invitations-and-resets.ts';
import { changeRole, listMembers, type Member, removeMember } from '../../../../dealers/users/team.ts';
import type { Handlers } from '../../call.ts';

export const teamHandlers: Handlers<typeof teamOperations> = {
  async listTeam({ context, user }) {
    const [members, invitations] = await Promise.all([
      listMembers(context.db, user.organizationId),
      listInvitations(context.db, user.organizationId),
    ]);
    return {
      members: members.map(presentMember),
      invitations: invitations.map(({ id, email, role, expiresAt }) => ({
        id,
        email,
        role,
        expires_at: expiresAt.toISOString(),
      })),
    };
  },

  async inviteMember({ context, user, actor, body }) {
    const { organizationId } = user;
    const link = await inviteMember(context.db, actor, { organizationId, email: body.email, role: body.role });
    context.dashboard.feed.notify(organizationId, 'team', null);
    return presentLink(link, 'invitation', context.publicUrl);
  },

  async withdrawInvitation({ context, user, actor, params }) {
    await withdrawInvitation(context.db, actor, user.organizationId, params.invitation_id);
    context.dashboard.feed.notify(user.organizationId, 'team', null);
    return null;
  },

  async changeRole({ context, user, actor, params, body }) {
    const key = { organizationId: user.organizationId, userId: params.user_id };
    const member = await changeRole(context.db, actor, key, body.role);
    context.dashboard.feed.notify(user.organizationId, 'team', [params.user_id]);
    return presentMember(member);
  },

  async removeMember({ context, user, actor, params }) {
    await removeMember(context.db, actor, { organizationId: user.organizationId, userId: params.user_id });
    context.dashboard.feed.notify(user.organizationId, 'team', [params.user_id]);
    return null;
  },

  async makeResetLink({ context, user, actor, params }) {
    const key = { organizationId: user.organizationId, userId: params.user_id };
    return presentLink(await makeResetLink(context.db, actor, key), 'reset', context.publicUrl);
  },
};

function presentMember(member: Member) {
  return {
    id: member.id,
    name: member.name,
    email: member.email,
    role: member.role,
    created_at: member.createdAt.toISOString(),
    last_seen_at: member.lastSeenAt?.toISOString() ?? null,
  };
}

function presentLink(link: NewLink, kind: 'invitation' | 'reset', publicUrl: string) {
  return { url: linkUrl(publicUrl, kind, link.token), expires_at: link.expiresAt.toISOString() };
}
