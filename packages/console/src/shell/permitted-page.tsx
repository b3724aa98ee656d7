import { Text } from '@mantine/core';
import { Outlet, useMatches } from '@tanstack/react-router';
import { rightOf, type Right } from '../api/needed-right.ts';
import { useCaller } from '../api/rights.ts';
import { Page } from '../ui/page.tsx';

/** The page, or why the token of the session may not see it: the calls of the page would all be refused. */
export function PermittedPage() {
  const caller = useCaller();
  const needed = useMatches({ select: (matches) => matches.at(-1)?.staticData.needed });
  const right: Right = needed === undefined ? { allowed: true } : rightOf(caller, needed);
  if (right.allowed) return <Outlet />;
  return (
    <Page title="Not permitted">
      <Text>{right.reason}</Text>
      <Text size="sm" c="dimmed">
        Sign in with another token, or ask for one that has it. The menu with the name of your token
        says what it has.
      </Text>
    </Page>
  );
}
