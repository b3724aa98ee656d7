import { Paper, Text } from '@mantine/core';
import { msText } from '../../ui/ms-text.ts';
import { rateText, shareText } from './numbers.ts';
import classes from './stat-tiles.module.css';
import type { Traffic } from './traffic.ts';

interface StatTilesProps {
  /** undefined: it is being loaded. */
  readonly traffic: Traffic | undefined;
}

/** The numbers of the traffic, large enough to be read from afar. */
export function StatTiles({ traffic }: StatTilesProps) {
  const ms = (value: number | null) => (value === null ? '–' : msText(value));
  const share = traffic?.errorShare ?? null;
  const tiles: readonly (readonly [name: string, text: string, bad?: boolean])[] =
    traffic === undefined
      ? NAMES.map((name) => [name, '…'])
      : [
          ['Requests per second', rateText(traffic.requestsPerSecond)],
          ['Error rate', shareText(share), share !== null && share >= 0.01],
          ['p50', ms(traffic.p50)],
          ['p95', ms(traffic.p95)],
          ['p99', ms(traffic.p99)],
        ];
  return (
    <div className={classes.tiles}>
      {tiles.map(([name, text, bad = false]) => (
        <Paper key={name} withBorder p="sm" component="dl" m={0} className={classes.tile ?? ''}>
          <Text component="dt" size="sm" c="dimmed">
            {name}
          </Text>
          <Text
            component="dd"
            m={0}
            fz={{ base: 20, sm: 26 }}
            fw={650}
            lh={1.3}
            {...(bad ? { c: 'red' } : {})}
          >
            {text}
          </Text>
        </Paper>
      ))}
    </div>
  );
}

const NAMES = ['Requests per second', 'Error rate', 'p50', 'p95', 'p99'];
