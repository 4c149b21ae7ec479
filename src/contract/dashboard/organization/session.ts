import Type from 'typebox';
import { STRING_LENGTH_LIMIT } from '../../limits.ts';
import { EMAIL_LENGTH_LIMIT, PASSWORD_MAX_LENGTH, PASSWORD_MIN_LENGTH } from '../limits.ts';
import { MAIL_KIND_NAMES, type MailKind } from '../mail-kinds.ts';
import { operation } from '../operation.ts';

export const TeamRole = Type.Union([Type.Literal('owner'), Type.Literal('staff')]);

const Name = Type.String({ minLength: 1, maxLength: STRING_LENGTH_LIMIT });
const Email = Type.String({ minLength: 3, maxLength: EMAIL_LENGTH_LIMIT });
/** A password of any length is accepted here, so that a wrong one is answered as wrong and not as malformed. */
const GivenPassword = Type.String({ maxLength: 1_000 });
const NewPassword = Type.String({ minLength: PASSWORD_MIN_LENGTH, maxLength: PASSWORD_MAX_LENGTH });
const Token = Type.String({ minLength: 1, maxLength: 200 });
const Timestamp = Type.String({ format: 'date-time' });

/** Who is signed in, and for which dealer. */
export const Session = Type.Object(
  {
    user: Type.Object({
      id: Type.String(),
      name: Type.String(),
      email: Type.String(),
      role: TeamRole,
      show_test_data: Type.Boolean({ description: 'Whether lists show orders and customers of test mode.' }),
    }),
    organization: Type.Object({
      id: Type.String(),
      name: Type.String(),
      is_provisioned: Type.Boolean(),
      has_integration_plan: Type.Boolean(),
      currency: Type.String({ description: 'Of the dealer’s own prices.' }),
      time_zone: Type.String({ description: 'In which local times are meant, such as the begin of a promotion.' }),
    }),
  },
  { $id: 'Session' },
);

const MailChoice = Type.Object({
  is_available: Type.Boolean({ description: 'False while the service has no mail server.' }),
  is_confirmed: Type.Boolean({ description: 'Nothing but a code is mailed before the person has entered it.' }),
  kinds: Type.Array(Type.Unsafe<MailKind>({ type: 'string', enum: MAIL_KIND_NAMES })),
});

const SessionEntry = Type.Object({
  id: Type.String(),
  is_current: Type.Boolean(),
  ip_address: Type.Union([Type.String(), Type.Null()]),
  user_agent: Type.Union([Type.String(), Type.Null()]),
  created_at: Timestamp,
  last_seen_at: Timestamp,
});

export const sessionOperations = {
  getSignInOptions: operation({
    method: 'GET',
    path: '/sign-in-options',
    access: 'public',
    description: 'What the page for signing in offers.',
    response: Type.Object({ sign_up: Type.Boolean() }),
  }),
  signIn: operation({
    method: 'POST',
    path: '/session',
    access: 'public',
    description: 'Signs in. The session is a cookie; attempts are limited for each account and each address.',
    body: Type.Object({ email: Type.String({ maxLength: EMAIL_LENGTH_LIMIT }), password: GivenPassword }),
    response: Session,
  }),
  getSession: operation({
    method: 'GET',
    path: '/session',
    access: 'staff',
    description: 'Who is signed in.',
    response: Session,
  }),
  signOut: operation({
    method: 'DELETE',
    path: '/session',
    access: 'staff',
    description: 'Ends this session.',
    response: null,
  }),
  signUp: operation({
    method: 'POST',
    path: '/sign-up',
    access: 'public',
    description: 'Makes a new dealer with its first owner, and signs in. Only with the setting SIGN_UP=on.',
    body: Type.Object({
      organization_name: Name,
      name: Name,
      email: Email,
      password: NewPassword,
      currency: Type.String({ minLength: 3, maxLength: 3, description: 'Of the dealer’s own prices.' }),
      time_zone: Type.Optional(Type.String({ maxLength: 64, description: 'Of the browser; UTC if it is not known.' })),
    }),
    response: Session,
  }),
  lookUpLink: operation({
    method: 'POST',
    path: '/links/look-up',
    access: 'public',
    description: 'What a one-time link is for. The token is in the body, so that it stays out of logs.',
    body: Type.Object({ token: Token }),
    response: Type.Object({
      kind: Type.Union([Type.Literal('invitation'), Type.Literal('reset')]),
      email: Type.String(),
      organization_name: Type.String(),
      expires_at: Timestamp,
    }),
  }),
  acceptInvitation: operation({
    method: 'POST',
    path: '/links/accept',
    access: 'public',
    description: 'Uses an invitation: makes the user and signs in.',
    body: Type.Object({ token: Token, name: Name, password: NewPassword }),
    response: Session,
  }),
  resetPassword: operation({
    method: 'POST',
    path: '/links/reset',
    access: 'public',
    description: 'Uses a reset link: sets the password, ends all sessions of the user, and signs in.',
    body: Type.Object({ token: Token, password: NewPassword }),
    response: Session,
  }),
  updateAccount: operation({
    method: 'PATCH',
    path: '/account',
    access: 'staff',
    description: 'Changes the name of the person who is signed in, or whether lists show test data.',
    body: Type.Object({ name: Type.Optional(Name), show_test_data: Type.Optional(Type.Boolean()) }),
    response: Session,
  }),
  getMailChoice: operation({
    method: 'GET',
    path: '/account/mail',
    access: 'staff',
    description: 'What the person is told of by mail.',
    response: MailChoice,
  }),
  changeMailChoice: operation({
    method: 'PUT',
    path: '/account/mail',
    access: 'staff',
    description: 'Chooses what the person is told of by mail: at most one mail an hour for each kind.',
    body: Type.Pick(MailChoice, ['kinds']),
    response: MailChoice,
  }),
  confirmMail: operation({
    method: 'POST',
    path: '/account/mail/confirmation',
    access: 'staff',
    overQuota: 'served',
    description: 'Confirms the address of the person with the code that was mailed there when they first chose mail.',
    body: Type.Object({ code: Type.String({ maxLength: 100 }) }),
    response: MailChoice,
  }),
  changePassword: operation({
    method: 'POST',
    path: '/account/password',
    waitsElsewhere: true,
    access: 'staff',
    overQuota: 'reserve',
    description: 'Changes the password. All other sessions of the person end.',
    body: Type.Object({ current_password: GivenPassword, new_password: NewPassword }),
    response: null,
  }),
  listSessions: operation({
    method: 'GET',
    path: '/account/sessions',
    access: 'staff',
    description: 'Where the person is signed in.',
    response: Type.Object({ data: Type.Array(SessionEntry) }),
  }),
  revokeSession: operation({
    method: 'DELETE',
    path: '/account/sessions/{session_id}',
    access: 'staff',
    description: 'Ends one of the person’s own sessions.',
    params: Type.Object({ session_id: Type.String() }),
    response: null,
  }),
  revokeOtherSessions: operation({
    method: 'DELETE',
    path: '/account/sessions',
    access: 'staff',
    description: 'Ends all sessions of the person but this one.',
    response: null,
  }),
};
