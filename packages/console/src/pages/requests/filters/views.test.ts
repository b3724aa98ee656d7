import { expect, it } from '@jest/globals';
import { readViews, withoutView, withView } from './views.ts';

it('reads what was saved, and nothing else', () => {
  const saved = [{ name: 'Failures', search: { failed: true, open: 'req_1', other: 1 } }];
  expect(readViews(saved)).toEqual([{ name: 'Failures', search: { failed: true } }]);
  expect(readViews('nonsense')).toEqual([]);
  expect(readViews([null, 1, { name: 2 }, { name: 'x' }])).toEqual([]);
});

it('keeps one view of a name, and not too many', () => {
  const first = withView([], { name: 'a', search: { route: 'one' } });
  expect(withView(first, { name: 'a', search: {} })).toEqual([{ name: 'a', search: {} }]);
  const many = Array.from({ length: 30 }, (_none, index) => ({ name: `v${index}`, search: {} }));
  expect(withView(many, { name: 'new', search: {} }).length).toBe(20);
  expect(withoutView(first, 'a')).toEqual([]);
});
