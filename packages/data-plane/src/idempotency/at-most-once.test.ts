import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Claim } from './claim.ts';
import { responseOf, createKeyWorld, settled } from '../../test/idempotency/key-world.ts';

describe('in any order of requests, store failures and node deaths', () => {
  const ends = ['completed', 'repeatable', 'unsent', 'unknown', 'never'] as const;
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('begin' as const), node: fc.nat(2) }) },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('end' as const),
        how: fc.constantFrom(...ends),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.nat(15_000) }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('die' as const), node: fc.nat(2) }),
    },
  );

  it('the request of a key has an effect at most once, and never runs twice at a time', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 15 }),
        fc.array(fc.constantFrom('refused', 'reply_lost', undefined, undefined, undefined), {
          minLength: 7,
          maxLength: 7,
        }),
        async (steps, faults) => {
          const world = createKeyWorld();
          const nodes = [world.node(), world.node(), world.node()];
          let calls = 0;
          for (const node of nodes) node.store.fault = () => faults[calls++ % faults.length];
          const running: Claim[] = [];
          let sent = 0;
          for (const one of steps) {
            if (one.kind === 'begin') {
              void nodes[one.node]?.begin().then(
                (outcome) => {
                  if (outcome.kind !== 'run') return;
                  sent += 1;
                  running.push(outcome.claim);
                },
                () => undefined,
              );
            } else if (one.kind === 'die') nodes[one.node]?.die();
            else if (one.kind === 'pass') await world.pass(one.ms);
            else {
              const claim = running.shift();
              if (one.how === 'completed') claim?.completed(responseOf('x'));
              else if (one.how === 'unknown') claim?.outcomeUnknown();
              else if (one.how !== 'never' && claim !== undefined) {
                // It had no effect.
                sent -= 1;
                if (one.how === 'unsent') claim.unsent();
                else claim.completed(responseOf('x', [], 429), true);
              }
            }
            await settled();
            expect(sent).toBeLessThanOrEqual(1);
          }
        },
      ),
      { numRuns: 60 },
    );
  }, 120_000);
});
