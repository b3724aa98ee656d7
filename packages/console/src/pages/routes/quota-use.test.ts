import { describe, expect, it } from '@jest/globals';
import { quotaUse } from './quota-use.ts';

type Quota = Parameters<typeof quotaUse>[0]['rate_limit'];

const quota = (changes: Partial<Quota>) => ({
  rate_limit: {
    limit: 100,
    window_seconds: 60,
    per: 'route' as const,
    on_store_unavailable: 'share' as const,
    ...changes,
  },
});
const minute = (number: number, requests: number, rejected = 0) => ({
  at: `2026-03-01T09:${String(number).padStart(2, '0')}:00.000Z`,
  requests,
  rejected,
});
const counted = {
  steps: [minute(3, 40), minute(4, 70, 20), minute(5, 30)],
};

describe('the use of a quota', () => {
  it('is that of the busiest window, without refused requests', () => {
    expect(quotaUse(quota({}), counted)).toEqual({ share: 0.5, used: 50, isMean: false });
    // 09:00 to 09:05 has two of the minutes.
    expect(quotaUse(quota({ window_seconds: 300 }), counted)).toEqual({
      share: 0.9,
      used: 90,
      isMean: false,
    });
    expect(quotaUse(quota({ window_seconds: 3600, limit: 240 }), counted)).toMatchObject({
      used: 120,
      share: 0.5,
    });
  });

  it('is a mean where windows are shorter than a minute', () => {
    expect(quotaUse(quota({ window_seconds: 6 }), counted)).toEqual({
      share: 0.05,
      used: 5,
      isMean: true,
    });
  });

  it('is 0 without requests', () => {
    expect(quotaUse(quota({}), { steps: [] })).toMatchObject({ share: 0 });
  });

  it('is not known by caller, by address, and for windows that statistics do not have', () => {
    for (const [changes, isByCaller] of [
      [{ per: 'token' }, true],
      [{ per: 'ip' }, true],
      [{ window_seconds: 7200 }, false],
      [{ window_seconds: 90 }, false],
    ] as const) {
      expect(quotaUse(quota(changes), counted)).toEqual({
        unknown: expect.any(String),
        isByCaller,
      });
    }
  });
});
