import { Skeleton } from '@mantine/core';
import { Brand } from './brand.tsx';
import classes from './app-skeleton.module.css';

/** How many links the navigation has, by group. */
const GROUPS = [3, 3, 4] as const;

/** In place of the frame of the pages while it is loaded: what will stand there, where it will stand. */
export function AppSkeleton() {
  return (
    <div className={classes.frame} role="status" aria-label="Loading">
      <div className={classes.side}>
        <Brand />
        <Skeleton height={32} mt={12} mb={12} />
        {GROUPS.map((links, group) => (
          <div key={group} className={classes.group}>
            {Array.from({ length: links }, (_none, index) => (
              <Skeleton key={index} height={12} width={`${70 - index * 12}%`} />
            ))}
          </div>
        ))}
      </div>
      <div className={classes.header} />
      <main className={classes.main}>
        <Skeleton height={24} width={160} mt={4} mb={8} />
        <div className={classes.cards}>
          {Array.from({ length: 4 }, (_none, index) => (
            <Skeleton key={index} height={76} />
          ))}
        </div>
        <Skeleton height={240} />
      </main>
    </div>
  );
}
