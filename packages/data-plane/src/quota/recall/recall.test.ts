import { describe, expect, it } from '@jest/globals';
import { NO_VIEW } from '../fleet/fleet-place.ts';
import { emptyQuotaCounts } from '../quota-metrics.ts';
import { partToRelease, Recaller, type RecallAnswer } from './recall.ts';

const member = (slot: number) => ({ slot, id: `dp-${slot}`, parts: 1, from_ms: 0 });
const answer = (slot: number): RecallAnswer => ({ slot, keeps: 0, writes: 0, gives: 0 });

it.each([
  ['all others', [answer(1), answer(2)], 0],
  ['one of two', [answer(1)], 1],
  ['none', [], 1],
])('a recall that %s answer is counted as such', async (_who, answers, unanswered) => {
  const counts = emptyQuotaCounts();
  const view = { ...NO_VIEW, others: [member(1), member(2)] };
  const recaller = new Recaller({
    fleet: { view, viewFor: () => view, noteDebt: () => undefined },
    recall: () => Promise.resolve(answers),
    counts,
  });
  const window = { key: { hash: 'route', windowMs: 1000 }, window: 7, limit: 10 };
  const { silent } = await recaller.ask(window, 1);
  expect(silent).toBe(unanswered === 1);
  expect([counts.recalls, counts.recallsUnanswered]).toEqual([1, unanswered]);
});

describe('what is released of a reserve', () => {
  it('is what is wanted and at least half, so that all of it is released after a few questions', () => {
    expect(partToRelease(100, 3)).toBe(50);
    expect(partToRelease(100, 80)).toBe(80);
    expect(partToRelease(100, 1000)).toBe(100);
    expect([partToRelease(12, 0), partToRelease(7, 0), partToRelease(0, 5)]).toEqual([10, 7, 0]);
  });
});
