import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Tickets } from './tickets.ts';

describe('tickets', () => {
  it('give each value back once, whatever the order, and never to an old ticket', () => {
    const step = fc.oneof(
      fc.constant('add' as const),
      fc.constant('take all' as const),
      fc.nat({ max: 30 }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
        const tickets = new Tickets<number>();
        const issued: string[] = [];
        const waiting = new Map<string, number>();
        for (const one of steps) {
          if (one === 'add') {
            const ticket = tickets.add(issued.length);
            expect(issued).not.toContain(ticket);
            waiting.set(ticket, issued.length);
            issued.push(ticket);
          } else if (one === 'take all') {
            expect(tickets.takeAll().toSorted((a, b) => a - b)).toEqual([...waiting.values()]);
            waiting.clear();
          } else {
            const ticket = issued[one] ?? 'none';
            expect(tickets.get(ticket)).toBe(waiting.get(ticket));
            expect(tickets.take(ticket)).toBe(waiting.get(ticket));
            waiting.delete(ticket);
          }
        }
      }),
    );
  });

  it.each(['', '-', '0', '0-', '-1', '0-1x', 'x-1', '1-1', '0-2'])(
    'have no value for %p',
    (text) => {
      const tickets = new Tickets<string>();
      expect(tickets.add('first')).toBe('0-1');
      expect(tickets.take(text)).toBeUndefined();
      expect(tickets.take('0-1')).toBe('first');
    },
  );
});
