import { Badge, Button, Group, Popover, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useCaller } from '../api/rights.ts';
import { signOut } from '../api/session.ts';
import { askToLeave } from '../ui/form/ask-to-leave.ts';
import { errorText } from '../ui/error-text.ts';
import { notifyFailure } from '../ui/notify.ts';
import { RelativeTime } from '../ui/relative-time.tsx';

/** Whose token the session has, what it may do, and the way out. */
export function AccountMenu() {
  const caller = useCaller();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const leave = useMutation({
    mutationFn: signOut,
    onSuccess: async () => {
      await navigate({ to: '/sign-in' });
      queryClient.clear();
    },
    // The reader must not believe that the session has ended.
    onError: (error) => notifyFailure(`You are still signed in. ${errorText(error)}`),
  });
  if (caller === undefined) return null;
  return (
    <Popover position="bottom-end" width={320} withinPortal={false} trapFocus returnFocus>
      <Popover.Target>
        <Button variant="default" size="compact-sm" h={32} maw={{ base: 120, sm: 180 }}>
          <Text span inherit truncate>
            {caller.name}
          </Text>
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Your token" p="sm">
        <Stack gap="xs">
          <Text size="sm" fw={600}>
            Token {caller.name}
          </Text>
          <Group gap={4}>
            {caller.scopes.map((scope) => (
              <Badge key={scope} variant="default" size="sm" tt="none">
                {scope === '*' ? 'all scopes' : scope}
              </Badge>
            ))}
          </Group>
          <Text size="xs" c="dimmed" component="div">
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
          <Button
            variant="default"
            loading={leave.isPending}
            onClick={() => askToLeave(() => leave.mutate())}
          >
            Sign out
          </Button>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

/** More names would move the button below them out of the window. */
const NAMED = 10;

function everything(names: readonly string[]): string {
  if (names.includes('*')) return 'all';
  const more = names.length - NAMED;
  const named = names.slice(0, NAMED).join(', ');
  return more > 0 ? `${named} and ${more} more` : named;
}
