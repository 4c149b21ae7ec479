import { Avatar, Menu, UnstyledButton } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { queryClient, useOperation } from '../../api/queries.ts';
import { paths } from '../../paths.ts';
import { ROLE_LABELS, useSession } from './session.ts';

export function AccountMenu() {
  const { user, organization } = useSession();
  const navigate = useNavigate();
  const signOut = useOperation('DELETE /session', {
    async onSuccess() {
      await navigate({ to: paths.signIn() });
      queryClient.clear();
    },
  });
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <UnstyledButton>
          <Avatar size={30} radius="xl" name={user.name} color="steel" aria-hidden />
          <span className="visually-hidden">Account of {user.name}</span>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {user.name}
          <br />
          {organization.name} · {ROLE_LABELS[user.role]}
        </Menu.Label>
        <Menu.Item onClick={() => void navigate({ to: paths.account() })}>My account</Menu.Item>
        <Menu.Item onClick={() => void navigate({ to: paths.team() })}>Team</Menu.Item>
        <Menu.Divider />
        <Menu.Item onClick={() => signOut.mutate({})}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
