import { Button, Popover, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { ChevronDown, CircleUserRound, LogOut } from 'lucide-react';
import { useCaller } from '../api/rights.ts';
import { signOut } from '../api/session.ts';
import { askToLeave } from '../ui/form/ask-to-leave.ts';
import { errorText } from '../ui/error-text.ts';
import { Facts } from '../ui/facts.tsx';
import { notifyFailure } from '../ui/notify.ts';
import { RelativeTime } from '../ui/relative-time.tsx';
import { visibleText } from '../ui/visible-text.ts';

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
        <Button
          variant="subtle"
          color="gray"
          c="var(--text)"
          px={8}
          maw={{ base: 132, sm: 220 }}
          leftSection={<CircleUserRound size={16} strokeWidth={1.75} aria-hidden />}
          rightSection={<ChevronDown size={14} strokeWidth={1.75} aria-hidden />}
        >
          <Text span inherit truncate>
            {visibleText(caller.name)}
          </Text>
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Your token" p="sm">
        <Stack gap="xs">
          <Text fw={500}>{visibleText(caller.name)}</Text>
          <Facts
            facts={[
              ['Scopes', everything(caller.scopes)],
              ['Environments', everything(caller.environments)],
              ['Routes', everything(caller.routes)],
              [
                'Expires',
                caller.secret_expires_at === null ? (
                  'never'
                ) : (
                  <RelativeTime key="at" at={caller.secret_expires_at} />
                ),
              ],
            ]}
          />
          <Button
            variant="default"
            mt={4}
            leftSection={<LogOut size={14} aria-hidden />}
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
