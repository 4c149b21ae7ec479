import { Button, Group, Select, Stack, Table, Text, Title, Tooltip } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Output } from '../../api/client.ts';
import { queryClient, useOperation } from '../../api/queries.ts';
import { formatTime } from '../../format.ts';
import { ROLE_LABELS, useOwnerOnlyReason, useSession } from '../../shell/session/session.ts';
import { optionsOf } from '../../table/filters/filter-choices.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { DoubleClickGuard } from '../../ui/double-click-guard.tsx';
import { Confirm } from '../../ui/feedback/confirm.tsx';
import { TextField } from '../../ui/fields/text-field.tsx';
import { Time } from '../../ui/time.tsx';
import { ShownOnceDialog } from '../integrations/shown-once.tsx';
import { teamQuery } from './settings-queries.ts';
import { SettingsPage } from './settings-tabs.tsx';

type Team = Output<'GET /team'>;
type Member = Team['members'][number];
type Link = Output<'POST /team/invitations'>;
type Role = Member['role'];

const ROLES = optionsOf(ROLE_LABELS);

const refresh = () => void queryClient.invalidateQueries({ queryKey: teamQuery.queryKey });

export function TeamPage() {
  const { members, invitations } = useSuspenseQuery(teamQuery).data;
  const reason = useOwnerOnlyReason();
  const [isInviting, setInviting] = useState(false);
  const [link, setLink] = useState<Link | null>(null);
  return (
    <SettingsPage
      action={
        <Tooltip label={reason} disabled={reason === null}>
          <Button data-disabled={reason !== null || undefined} onClick={() => reason === null && setInviting(true)}>
            Invite
          </Button>
        </Tooltip>
      }
    >
      <Stack gap="xl" maw={860}>
        <Members members={members} reason={reason} onLink={setLink} />
        {invitations.length === 0 ? null : <Invitations invitations={invitations} reason={reason} />}
      </Stack>
      <InviteDialog isOpen={isInviting} onClose={() => setInviting(false)} onLink={setLink} />
      <LinkDialog link={link} onClose={() => setLink(null)} />
    </SettingsPage>
  );
}

type MembersProps = { members: Member[]; reason: string | null; onLink: (link: Link) => void };

function Members({ members, reason, onLink }: MembersProps) {
  const { user } = useSession();
  const [leaving, setLeaving] = useState<Member | null>(null);
  const change = useOperation('PATCH /team/{user_id}', { success: 'Role changed.', onSuccess: refresh });
  const makeLink = useOperation('POST /team/{user_id}/reset-link', { onSuccess: onLink });
  const remove = useOperation('DELETE /team/{user_id}', {
    success: 'Removed.',
    onSuccess() {
      setLeaving(null);
      refresh();
    },
  });
  return (
    <div className="team-table">
      <Table verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th w={130}>Role</Table.Th>
            <Table.Th w={150}>Last seen</Table.Th>
            <Table.Th w={190}>
              <span className="visually-hidden">Actions</span>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {members.map((member) => (
            <Table.Tr key={member.id}>
              <Table.Td>
                {member.name}
                {member.id === user.id ? ' (you)' : ''}
                <Text size="xs" c="dimmed">
                  {member.email}
                </Text>
              </Table.Td>
              <Table.Td>
                <Select
                  size="xs"
                  aria-label={`Role of ${member.name}`}
                  data={ROLES}
                  value={member.role}
                  disabled={reason !== null}
                  allowDeselect={false}
                  onChange={(role) => change.mutate({ params: { user_id: member.id }, body: { role: role as Role } })}
                />
              </Table.Td>
              <Table.Td data-label="Last seen">
                {member.id === user.id ? (
                  'now'
                ) : member.last_seen_at === null ? (
                  'never'
                ) : (
                  <Time at={member.last_seen_at} />
                )}
              </Table.Td>
              <Table.Td>
                <Group gap={4} justify="flex-end" wrap="nowrap">
                  <Button
                    size="xs"
                    variant="subtle"
                    disabled={reason !== null}
                    onClick={() => makeLink.mutate({ params: { user_id: member.id } })}
                  >
                    Reset link
                  </Button>
                  <Button
                    size="xs"
                    variant="subtle"
                    color="ruby"
                    disabled={reason !== null}
                    onClick={() => setLeaving(member)}
                  >
                    Remove
                  </Button>
                </Group>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Confirm
        isOpen={leaving !== null}
        title={`Remove ${leaving?.name ?? ''}?`}
        verb="Remove"
        keep="Keep in the team"
        isDangerous
        isBusy={remove.isPending}
        onClose={() => setLeaving(null)}
        onConfirm={() => leaving !== null && remove.mutate({ params: { user_id: leaving.id } })}
      >
        Their sessions end at once. What they did stays in the audit log.
      </Confirm>
    </div>
  );
}

function Invitations({ invitations, reason }: { invitations: Team['invitations']; reason: string | null }) {
  const withdraw = useOperation('DELETE /team/invitations/{invitation_id}', {
    success: 'Invitation withdrawn.',
    onSuccess: refresh,
  });
  return (
    <section aria-labelledby="invitations">
      <Title order={2} size="h4" id="invitations" mb="sm">
        Open invitations
      </Title>
      <DoubleClickGuard shows={invitations.map(({ id }) => id).join()}>
        <ul className="plain-list">
          {invitations.map((invitation) => (
            <li key={invitation.id}>
              <div>
                <Text size="sm">{invitation.email}</Text>
                <Text size="xs" c="dimmed">
                  {ROLE_LABELS[invitation.role]}, until {formatTime(invitation.expires_at)}
                </Text>
              </div>
              <Button
                size="xs"
                variant="subtle"
                color="ruby"
                disabled={reason !== null}
                onClick={() => withdraw.mutate({ params: { invitation_id: invitation.id } })}
              >
                Withdraw
              </Button>
            </li>
          ))}
        </ul>
      </DoubleClickGuard>
    </section>
  );
}

type InviteProps = { isOpen: boolean; onClose: () => void; onLink: (link: Link) => void };

function InviteDialog({ isOpen, onClose, onLink }: InviteProps) {
  const form = useForm({ initialValues: { email: '', role: 'staff' as Role } });
  const close = () => {
    form.reset();
    onClose();
  };
  const invite = useOperation('POST /team/invitations', {
    onSuccess(link) {
      close();
      onLink(link);
      refresh();
    },
    form,
  });
  return (
    <Dialog opened={isOpen} onClose={close} title="Invite somebody">
      <form onSubmit={form.onSubmit((body) => invite.mutate({ body }))}>
        <Stack>
          <TextField label="Email" type="email" required data-autofocus {...form.getInputProps('email')} />
          <Select
            label="Role"
            data={ROLES}
            allowDeselect={false}
            description="Owners may also see API keys, go live, manage the team and delete for ever."
            {...form.getInputProps('role')}
          />
          <Button type="submit" loading={invite.isPending}>
            Make the link
          </Button>
        </Stack>
      </form>
    </Dialog>
  );
}

function LinkDialog({ link, onClose }: { link: Link | null; onClose: () => void }) {
  return (
    <ShownOnceDialog
      title="One-time link"
      label="Link"
      value={link?.url ?? null}
      note={link === null ? '' : noteOf(link)}
      stored="I have copied it"
      onClose={onClose}
    />
  );
}

function noteOf({ expires_at: expiresAt }: Link): string {
  return `Send it to the person yourself. It works once, until ${formatTime(expiresAt)}, and is shown this once.`;
}
