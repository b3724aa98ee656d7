import { Alert } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { reachability } from '../api/client.ts';
import { callerQuery } from '../api/session.ts';

const TRY_EVERY_MS = 2000;

/** Says that the control plane does not answer, as long as it does not. Pages then show what they read last. */
export function AwayNotice() {
  const isAway = useSyncExternalStore(reachability.subscribe, reachability.isAway);
  const queryClient = useQueryClient();
  useEffect(() => {
    if (!isAway) return;
    // A page that reads nothing meanwhile, such as a form, would not learn that it is back.
    const { queryKey } = callerQuery;
    const ask = () => void queryClient.refetchQueries({ queryKey }, { cancelRefetch: false });
    const timer = setInterval(ask, TRY_EVERY_MS);
    return () => clearInterval(timer);
  }, [isAway, queryClient]);
  return (
    <div role="status">
      {isAway && (
        <Alert color="yellow" mb="md" title="The control plane does not answer">
          The page tries again until it does. What you see may be old, and what you typed is kept.
          Data planes go on serving traffic.
        </Alert>
      )}
    </div>
  );
}
