import { statSync } from 'node:fs';

/** Suites of whole processes take longest and wait most. */
const rank = (path) => (path.includes('/e2e/') ? 0 : 1);

/**
 * The order of the test files for jest. In a fresh clone jest knows no durations and goes by the size of the files, so it
 * would end with the longest ones, on one worker. This one never uses the results of earlier runs.
 */
export default class ProcessesFirst {
  sort(tests) {
    const sizes = new Map(tests.map(({ path }) => [path, statSync(path).size]));
    const size = ({ path }) => sizes.get(path) ?? 0;
    return tests.toSorted((a, b) => rank(a.path) - rank(b.path) || size(b) - size(a));
  }

  shard(tests, { shardIndex, shardCount }) {
    return this.sort(tests).filter((_, index) => index % shardCount === shardIndex - 1);
  }

  allFailedTests(tests) {
    return tests;
  }

  cacheResults() {}
}
