import { useQuery } from '@tanstack/react-query';
import { useNavigate, useRouterState } from '@tanstack/react-router';
import { useEffect } from 'react';
import { callerQuery, isRefused } from '../api/session.ts';

/** Leads to the sign-in, and back to the page afterwards, when the session has ended. */
export function SessionWatch() {
  const { error } = useQuery({ ...callerQuery, refetchInterval: 60_000 });
  const href = useRouterState({ select: ({ location }) => location.publicHref });
  const navigate = useNavigate();
  const hasEnded = isRefused(error);
  useEffect(() => {
    if (hasEnded) void navigate({ to: '/sign-in', search: { next: href, reason: 'ended' } });
  }, [hasEnded, href, navigate]);
  return null;
}
