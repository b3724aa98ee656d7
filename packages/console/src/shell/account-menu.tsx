import { Badge, Button, Group, Menu, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useCaller } from '../api/rights.ts';
import { signOut } from '../api/session.ts';
import { RelativeTime } from '../ui/relative-time.tsx';

/** Whose token the session has, what it may do, and the way out. */
export function AccountMenu() {
  const caller = useCaller();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const leave = useMutation({
    mutationFn: signOut,
    onSettled: async () => {
      await navigate({ to: '/sign-in' });
      queryClient.clear();
    },
  });
  if (caller === undefined) return null;
  return (
    <Menu position="bottom-end" width={320}>
      <Menu.Target>
        <Button variant="default" size="compact-md" h={32} maw={180}>
          {caller.name}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Token {caller.name}</Menu.Label>
        <Group gap={4} px="sm" pb="xs">
          {caller.scopes.map((scope) => (
            <Badge key={scope} variant="default" size="sm" tt="none">
              {scope === '*' ? 'all scopes' : scope}
            </Badge>
          ))}
        </Group>
        <Text size="xs" px="sm" pb="xs" c="dimmed">
          Environments: {everything(caller.environments)}
          <br />
          Routes: {everything(caller.routes)}
          <br />
          {caller.secret_expires_at === null ? (
            'Does not expire'
          ) : (
            <>
              Expires <RelativeTime at={caller.secret_expires_at} />
            </>
          )}
        </Text>
        <Menu.Divider />
        <Menu.Item onClick={() => leave.mutate()}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function everything(names: readonly string[]): string {
  return names.includes('*') ? 'all' : names.join(', ');
}
