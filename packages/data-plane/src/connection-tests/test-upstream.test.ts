import { expect, it } from '@jest/globals';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { testUpstream } from './test-upstream.ts';

const UPSTREAM = {
  key: 'k',
  id: 'ups_1',
  serviceId: 'svc_1',
  url: 'http://upstream.test',
  origin: 'http://upstream.test',
  host: 'upstream.test',
  basePath: '',
  region: null,
  weight: 1,
};

it('ends soon after its timeout although a response goes on, and closes its connection', async () => {
  const clock = manualClock();
  let closed = 0;
  const neverEnds = {
    check: () => new Promise<never>(() => undefined),
    close: () => void (closed += 1),
  };
  const testing = testUpstream(UPSTREAM, '/', 1000, { clock, openCheck: () => neverEnds });
  clock.advance(1500);
  expect(await testing).toMatchObject({ outcome: 'failed', detail: 'attempt_timeout' });
  expect(closed).toBe(1);
});
