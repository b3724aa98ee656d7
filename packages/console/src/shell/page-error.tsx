import { useRouter, type ErrorComponentProps } from '@tanstack/react-router';
import { useEffect } from 'react';
import { reachability } from '../api/client.ts';
import { OutdatedTab } from '../api/load-file.ts';
import { isAway } from '../api/retry-reads.ts';
import { LoadError } from '../ui/load-error.tsx';
import { useDocumentTitle } from '../ui/document-title.ts';
import { reloadTab } from './reload-tab.ts';

/** In place of a page that failed. The navigation stays usable. */
export function PageError({ error, reset }: ErrorComponentProps) {
  useDocumentTitle('Error');
  const router = useRouter();
  useEffect(() => {
    if (error instanceof OutdatedTab) reloadTab();
    if (!isAway(error)) return;
    const openAgain = () => void (reachability.isAway() || router.invalidate());
    // It may have returned between the failure and this moment.
    openAgain();
    return reachability.subscribe(openAgain);
  }, [error, router]);
  return <LoadError error={error} onRetry={() => void router.invalidate().then(reset)} />;
}
