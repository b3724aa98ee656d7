import type { ErrorComponentProps } from '@tanstack/react-router';
import { useSyncExternalStore } from 'react';
import { reachability } from '../api/client.ts';
import { AppSkeleton } from './app-skeleton.tsx';
import { AwayNotice } from './away-notice.tsx';
import { Brand } from './brand.tsx';
import { PageError } from './page-error.tsx';
import classes from './without-shell.module.css';

/** While the frame of the pages is loaded. */
export function FirstLoading() {
  const isAway = useSyncExternalStore(reachability.subscribe, reachability.isAway);
  return (
    <>
      {isAway && (
        <div className={classes.notice}>
          <AwayNotice>The page opens when it does.</AwayNotice>
        </div>
      )}
      <AppSkeleton />
    </>
  );
}

/** In place of the frame of the pages, or of the sign-in, if it failed. */
export function FirstError(props: ErrorComponentProps) {
  return (
    <main className={classes.page}>
      <h1 className={classes.heading}>
        <Brand /> console
      </h1>
      <AwayNotice>The page opens when it does.</AwayNotice>
      <PageError {...props} />
    </main>
  );
}
