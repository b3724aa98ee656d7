import { Alert } from '@mantine/core';
import { CloudOff } from 'lucide-react';
import { useSyncExternalStore, type ReactNode } from 'react';
import { reachability } from '../api/client.ts';

/** Says that the control plane does not answer, as long as it does not, and what the page does meanwhile. */
export function AwayNotice({ children }: { readonly children: ReactNode }) {
  const isAway = useSyncExternalStore(reachability.subscribe, reachability.isAway);
  return (
    <div role="status">
      {isAway && (
        <Alert
          color="yellow"
          mb="md"
          icon={<CloudOff size={16} aria-hidden />}
          title="The control plane does not answer"
        >
          {children} Data planes continue to serve traffic.
        </Alert>
      )}
    </div>
  );
}
