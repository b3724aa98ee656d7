import { describe, expect, it } from '@jest/globals';
import { minuteCounts } from './minute-counts.ts';

describe('the requests of each minute', () => {
  it('are 0 in minutes that the statistics leave out', () => {
    const counted = minuteCounts({
      from: '2026-03-01T09:00:00.000Z',
      to: '2026-03-01T09:04:00.000Z',
      steps: [
        { at: '2026-03-01T09:01:00.000Z', requests: 3, errors: 0 },
        { at: '2026-03-01T09:03:00.000Z', requests: 5, errors: 1 },
      ],
    });
    expect(counted).toEqual({ requests: [0, 3, 0, 5], errors: [0, 0, 0, 1] });
  });
});
