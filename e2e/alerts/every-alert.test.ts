import { readdirSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { alertRules } from '../../deploy/prometheus/alert-rules.ts';
import { bounds } from './groups/bounds.ts';
import { configuration } from './groups/configuration.ts';
import { outages } from './groups/outages.ts';
import { processes } from './groups/processes.ts';
import { surroundings } from './groups/surroundings.ts';

const groups = [bounds, configuration, outages, processes, surroundings];

/** Those of series of the kubelet and of node_exporter, which no test runs: promtool alone tests them. */
const OF_OTHERS = ['GatewayDiskAlmostFull'];

it('each alert of rules.yml has one condition that causes it', () => {
  const caused = groups.flatMap(({ conditions }) => conditions.flatMap(({ alerts }) => alerts));
  expect([...caused, ...OF_OTHERS].toSorted()).toEqual(
    alertRules()
      .map(({ alert }) => alert)
      .toSorted(),
  );
});

it('each group has its test', () => {
  const tests = readdirSync(new URL('.', import.meta.url))
    .filter((name) => name.endsWith('.long.test.ts'))
    .map((name) => name.replace('.long.test.ts', ''));
  expect(tests).toEqual(groups.map(({ name }) => name));
});
