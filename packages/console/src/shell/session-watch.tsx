import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { callerQuery, isRefused, onSignOut } from '../api/session.ts';

/** Leads to the sign-in, and back to the page afterwards, when the session has ended. */
export function SessionWatch() {
  const { error } = useQuery({ ...callerQuery, refetchInterval: 60_000 });
  const queryClient = useQueryClient();
  const router = useRouter();
  useEffect(
    () => onSignOut(() => void queryClient.invalidateQueries({ queryKey: callerQuery.queryKey })),
    [queryClient],
  );
  const hasEnded = isRefused(error);
  useEffect(() => {
    if (!hasEnded) return;
    const next = router.latestLocation.publicHref;
    void router.navigate({ to: '/sign-in', search: { next, reason: 'ended' } });
  }, [hasEnded, router]);
  return null;
}
