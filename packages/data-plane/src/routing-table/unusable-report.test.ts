import { expect, it } from '@jest/globals';
import { MAX_UNUSABLE_ELEMENTS } from '@gateway/shared/heartbeats/heartbeat';
import { Registry } from 'prom-client';
import { captureLog } from '../../test/captured-log.ts';
import type { RoutingTable, Unusable } from './routing-table.ts';
import { UnusableReport } from './unusable-report.ts';

const ELEMENTS = 60;

it('a report of what cannot be used is bounded however long the names are, and counts all of it', () => {
  const { log, lines } = captureLog();
  const report = new UnusableReport(log, new Registry());
  const long = 'x'.repeat(100_000);
  const element = (at: number): Unusable => ({
    kind: at % 2 === 0 ? 'route' : 'token',
    id: `${at} ${long}`,
    name: at % 2 === 0 ? `${at} ${long}` : undefined,
    reason: 'unknown',
  });
  const unusable = new Map(Array.from({ length: ELEMENTS }, (_, at) => [String(at), element(at)]));
  const table = { environments: new Map([['production', { name: 'production', unusable }]]) };
  report.applied(table as unknown as RoutingTable);
  const heartbeat = report.heartbeat();
  expect(heartbeat.unusable_counts).toEqual({ production: ELEMENTS });
  expect(heartbeat.unusable_elements).toHaveLength(MAX_UNUSABLE_ELEMENTS);
  expect(JSON.stringify(heartbeat).length).toBeLessThan(MAX_UNUSABLE_ELEMENTS * 300);
  expect(report.reasons().join().length).toBeLessThan(300);
  expect(lines).toHaveLength(1);
  expect(JSON.stringify(lines).length).toBeLessThan(3000);
});
