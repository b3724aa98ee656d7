import { waysOf, wayText } from '@gateway/client/route-ways';
import { Text } from '@mantine/core';
import type { Route } from '../../api/client.ts';
import { visibleText } from '../../ui/visible-text.ts';
import classes from './route-ways.module.css';

interface RouteWaysProps {
  readonly route: Pick<Route, 'name' | 'match'>;
  /** The most ways that are shown. */
  readonly shown: number;
}

/** Where a route is reached: its hosts and paths, else the path with its name. */
export function RouteWays({ route: { name, match }, shown }: RouteWaysProps) {
  const ways = waysOf(match).map(wayText);
  const named = `/v1/proxy/${name}`;
  const more = ways.length - shown;
  return (
    <div className={classes.ways}>
      {ways.slice(0, shown).map((way) => (
        <span key={way} className={classes.way}>
          {visibleText(way)}
        </span>
      ))}
      {more > 0 && (
        <Text span className={classes.more ?? ''} c="dimmed">
          and {more} more
        </Text>
      )}
      {ways.length === 0 && <span className={classes.way}>{named}</span>}
    </div>
  );
}
