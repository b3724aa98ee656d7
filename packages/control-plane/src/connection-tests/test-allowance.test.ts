import { manualClock } from '@gateway/shared/test/manual-clock';
import { expect, it } from '@jest/globals';
import { MAX_TESTS_AT_ONCE, MAX_TESTS_OF_TOKEN, TestAllowance } from './test-allowance.ts';

const { signal } = new AbortController();

it('lets further tests wait for one that ends, at most three seconds', async () => {
  const clock = manualClock();
  const allowance = new TestAllowance(clock);
  const { promise: end, resolve } = Promise.withResolvers<'ran'>();
  const running = Array.from({ length: MAX_TESTS_AT_ONCE }, (_, at) =>
    allowance.run(`tok_${at}`, signal, () => end),
  );
  const late = allowance.run('tok_late', signal, () => Promise.resolve('ran'));
  clock.advance(3000);
  await expect(late).rejects.toMatchObject({ code: 'gateway_overloaded' });
  const next = allowance.run('tok_next', signal, () => Promise.resolve('ran'));
  resolve('ran');
  expect(await Promise.all([...running, next])).toEqual(
    Array.from({ length: MAX_TESTS_AT_ONCE + 1 }, () => 'ran'),
  );
});

it('bounds the tests of each token in a minute', async () => {
  const clock = manualClock();
  const allowance = new TestAllowance(clock);
  const run = (token: string) => allowance.run(token, signal, () => Promise.resolve('ran'));
  for (let at = 0; at < MAX_TESTS_OF_TOKEN; at += 1) await run('tok_1');
  await expect(run('tok_1')).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
  expect(await run('tok_2')).toBe('ran');
  clock.advance(60_000);
  expect(await run('tok_1')).toBe('ran');
});
