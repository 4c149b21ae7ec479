import type { Static } from 'typebox';
import type { Session, sessionOperations } from '../../../../contract/dashboard/organization/session.ts';
import { DomainError } from '../../../../contract/domain-error.ts';
import { readOrganizationSettings } from '../../../../dealers/organization-settings.ts';
import { findOrganization } from '../../../../dealers/organizations.ts';
import {
  changePassword,
  endOtherSessions,
  endSession,
  listSessions,
  updateAccount,
} from '../../../../dealers/users/account.ts';
import { acceptInvitation, findLink, resetPassword } from '../../../../dealers/users/invitations-and-resets.ts';
import { signUp } from '../../../../dealers/users/sign-up.ts';
import { confirmMail, isMailConfirmed } from '../../../../notifications/mail-confirmation.ts';
import { changeMailKinds, readMailKinds } from '../../../../notifications/mail-subscriptions.ts';
import type { Call, DashboardContext, Handlers, SignedIn } from '../../call.ts';
import { DashboardError } from '../../dashboard-error.ts';

export const sessionHandlers: Handlers<typeof sessionOperations> = {
  async getSignInOptions({ context }) {
    return { sign_up: context.dashboard.isSignUpOpen };
  },

  async signIn({ context, request, reply, address, body }) {
    const { email, password } = body;
    return await presentSession(context, await context.sessions.signIn({ email, password, address }, request, reply));
  },

  async getSession({ context, user }) {
    return await presentSession(context, user);
  },

  async signOut({ context, user, request, reply }) {
    await context.sessions.signOut(request, reply);
    notifyOfAccount(context, user);
    return null;
  },

  async signUp(call) {
    const { context, body, address } = call;
    if (!context.dashboard.isSignUpOpen) {
      throw new DashboardError('sign_up_off', 'Nobody can sign up here. Ask the operator of this service.');
    }
    const { organization_name: organizationName, name, email, password, currency, time_zone: timeZone } = body;
    await context.sessions.assertSignUp(address);
    await signUp(context.db, { organizationName, name, email, password, currency, timeZone, address });
    return await startSession(call, { email, password });
  },

  async lookUpLink({ context, body }) {
    const link = await findLink(context.db, body.token);
    return {
      kind: link.kind,
      email: link.email,
      organization_name: link.organizationName,
      expires_at: link.expiresAt.toISOString(),
    };
  },

  async acceptInvitation(call) {
    const { email } = await acceptInvitation(call.context.db, { ...call.body, address: call.address });
    return await startSession(call, { email, password: call.body.password });
  },

  async resetPassword(call) {
    const { email } = await resetPassword(call.context.db, { ...call.body, address: call.address });
    return await startSession(call, { email, password: call.body.password });
  },

  async updateAccount({ context, user, actor, body }) {
    await updateAccount(context.db, actor, user, { name: body.name, showTestData: body.show_test_data });
    notifyOfAccount(context, user);
    const { name = user.name, show_test_data: showsTestData = user.showsTestData } = body;
    return await presentSession(context, { ...user, name: name.trim(), showsTestData });
  },

  async getMailChoice({ context, user }) {
    return await presentMailChoice(context, user);
  },

  async changeMailChoice({ context, user, actor, body }) {
    await changeMailKinds(context.db, actor, user, body.kinds, context.channel.now());
    context.dashboard.feed.notify(user.organizationId, 'account', [user.userId]);
    return await presentMailChoice(context, user);
  },

  async confirmMail({ context, user, actor, body }) {
    const { secretKeys, channel, dashboard } = context;
    await confirmMail(context.db, actor, user, body.code, { secretKeys, now: channel.now() });
    dashboard.feed.notify(user.organizationId, 'account', [user.userId]);
    return await presentMailChoice(context, user);
  },

  async changePassword({ context, user, actor, body, address }) {
    const { email, sessionId } = user;
    if (!(await context.sessions.verify({ email, password: body.current_password, address, sessionId }))) {
      throw new DomainError('invalid_input', 'That is not your current password.', 'current_password');
    }
    await changePassword(context.db, actor, {
      organizationId: user.organizationId,
      userId: user.userId,
      keptSessionId: sessionId,
      password: body.new_password,
    });
    notifyOfAccount(context, user);
    return null;
  },

  async listSessions({ context, user }) {
    const sessions = await listSessions(context.db, user.userId);
    return {
      data: sessions.map((session) => ({
        id: session.id,
        is_current: session.id === user.sessionId,
        ip_address: session.ipAddress,
        user_agent: session.userAgent,
        created_at: session.createdAt.toISOString(),
        last_seen_at: session.lastSeenAt.toISOString(),
      })),
    };
  },

  async revokeSession({ context, user, params }) {
    await endSession(context.db, user.userId, params.session_id);
    notifyOfAccount(context, user);
    return null;
  },

  async revokeOtherSessions({ context, user }) {
    await endOtherSessions(context.db, user.userId, user.sessionId);
    notifyOfAccount(context, user);
    return null;
  },
};

/** Open pages read again, and streams of sessions that have ended are closed. */
function notifyOfAccount({ dashboard }: DashboardContext, { organizationId, userId }: SignedIn): void {
  dashboard.feed.notify(organizationId, 'account', [userId]);
}

async function presentMailChoice({ db, dashboard }: DashboardContext, user: SignedIn) {
  const [isConfirmed, kinds] = await Promise.all([isMailConfirmed(db, user), readMailKinds(db, user)]);
  return { is_available: dashboard.isMailOn, is_confirmed: isConfirmed, kinds };
}

/** Signs in whoever has just set this password. */
async function startSession(
  { context, request, reply, address }: Pick<Call, 'context' | 'request' | 'reply' | 'address'>,
  { email, password }: { email: string; password: string },
): Promise<Static<typeof Session>> {
  return await presentSession(context, await context.sessions.start({ email, password, address }, request, reply));
}

async function presentSession(context: DashboardContext, user: SignedIn): Promise<Static<typeof Session>> {
  const [organization, settings] = await Promise.all([
    findOrganization(context.db, user.organizationId),
    readOrganizationSettings(context.db, user.organizationId),
  ]);
  if (organization === null || settings === null)
    throw new DashboardError('unauthenticated', 'This account belongs to no dealer any more.');
  return {
    user: {
      id: user.userId,
      name: user.name,
      email: user.email,
      role: user.role,
      show_test_data: user.showsTestData,
    },
    organization: {
      id: organization.id,
      name: organization.name,
      is_provisioned: organization.isProvisioned,
      has_integration_plan: organization.hasIntegrationPlan,
      currency: settings.currency,
      time_zone: settings.timeZone,
    },
  };
}
