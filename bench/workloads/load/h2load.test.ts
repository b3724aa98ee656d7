import { describe, expect, it } from '@jest/globals';
import { parseH2Load } from './h2load.ts';

const OUTPUT = `starting benchmark...
finished in 736.43ms, 6789.48 req/s, 868.58KB/s
requests: 4 total, 4 started, 4 done, 3 succeeded, 1 failed, 0 errored, 0 timeout
status codes: 3 2xx, 0 3xx, 0 4xx, 1 5xx
traffic: 1.06KB (1088) total, 704B (704) headers (space savings 0.00%), 104B (104) data
`;
const LOG = [100, 400, 200, 300].map((us) => `1795663526688282\t200\t${us}\n`).join('');

describe('parseH2Load', () => {
  it('reads requests, failures, duration and percentiles', () => {
    expect(parseH2Load(OUTPUT, LOG)).toEqual({
      units: 4,
      failed: 1,
      durationUs: 736_430,
      p50Us: 200,
      p99Us: 400,
    });
  });

  it('understands each unit of time', () => {
    const durationOf = (time: string) => parseH2Load(OUTPUT.replace('736.43ms', time), '');
    expect(durationOf('2.37s').durationUs).toBe(2_370_000);
    expect(durationOf('980us').durationUs).toBe(980);
  });

  it('rejects an output without a result', () => {
    expect(() => parseH2Load('could not connect', '')).toThrow('printed no result');
  });
});
