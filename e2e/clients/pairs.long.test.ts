import { describe } from '@jest/globals';
import { testPairs } from './harness/test-pairs.ts';
import { LONG } from './pairs/index.ts';

describe('a client sees through a route what it sees direct, except for what docs/use/clients.md says', () => {
  testPairs(LONG, 120_000);
});
