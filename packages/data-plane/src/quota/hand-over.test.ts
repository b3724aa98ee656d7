import { describe, expect, it } from '@jest/globals';
import type { QuotaDecision } from './quota-store.ts';
import { openModelStore } from '../../test/quota/model-store.ts';

const LIMIT = 100;

describe('what a data plane that stops hands over to the next process', () => {
  it('is not released any more to others that ask before it has ended', async () => {
    const { store, take, open, settle, settled, clock } = openModelStore({
      limit: LIMIT,
      nodes: 2,
      shares: true,
    });
    const other = open(1);
    await settled(take());
    const handedOver = store.handOver() ?? [];
    const kept = handedOver.reduce((sum, { unused, reserve }) => sum + unused + reserve, 0);
    expect(kept).toBeGreaterThan(0);
    const taken = Array.from({ length: LIMIT }, async () => take(other));
    for (let passed = 0; passed < 20; passed += 1) {
      await settle();
      clock.advance(100);
    }
    const decisions: QuotaDecision[] = await Promise.all(taken);
    const granted = decisions.filter((decision) => decision.granted).length;
    expect(1 + kept + granted).toBe(LIMIT);
  });
});
