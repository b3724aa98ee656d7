import { expect, it } from '@jest/globals';
import { NO_VIEW } from './fleet-view.ts';
import { QuotaCounter } from './quota-counter.ts';
import { emptyQuotaCounts } from './quota-counts.ts';
import type { RecallAnswer } from './recall.ts';
import { Recaller } from './recaller.ts';

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
  const counter = QuotaCounter.of(
    'route',
    { key: 'route', per: 'route', limit: 10, windowMs: 1000 },
    0,
  );
  const { silent } = await recaller.ask(counter, 1);
  expect(silent).toBe(unanswered === 1);
  expect([counts.recalls, counts.recallsUnanswered]).toEqual([1, unanswered]);
});
