import { eventually } from '@gateway/shared/test/eventually';
import { expect } from '@jest/globals';
import type { TestApi } from './api.ts';

/** Resolves as the calls do. Until then the clock of the API runs, in steps of `stepMs`: a change may wait for another. */
export async function untilEnded<T>(
  { clock }: Pick<TestApi, 'clock'>,
  calls: Promise<T>,
  stepMs = 50,
): Promise<T> {
  let hasEnded = false;
  calls.then(
    () => (hasEnded = true),
    () => (hasEnded = true),
  );
  await eventually(() => {
    clock.advance(stepMs);
    expect(hasEnded).toBe(true);
  });
  return calls;
}
