import { describe, expect, it } from '@jest/globals';
import type { RequestList } from '../../api/client.ts';
import { withNewest } from './live-tail.ts';

const list = (ids: readonly string[], next: string | null = null): RequestList => {
  const page: unknown = { data: ids.map((id) => ({ id })), request_id: 'r', next_cursor: next };
  return page as RequestList;
};
const idsOf = (shown: RequestList | undefined) => shown?.data.map(({ id }) => id);

describe('a live list', () => {
  it('gets new records, each once, at their place', () => {
    expect(idsOf(withNewest(list(['4', '2']), list(['5', '4', '3'])))).toEqual([
      '5',
      '4',
      '3',
      '2',
    ]);
  });

  it('leaves to the next page what is older than its last row', () => {
    expect(idsOf(withNewest(list(['4', '2'], 'next'), list(['5', '1'])))).toEqual(['5', '4', '2']);
    expect(idsOf(withNewest(list(['4', '2']), list(['1'])))).toEqual(['4', '2', '1']);
  });

  it('is the same object if nothing is new, so that nothing is drawn', () => {
    const shown = list(['2', '1']);
    expect(withNewest(shown, list(['2']))).toBe(shown);
  });

  it('is read again if records may be missing, or if it has grown too long', () => {
    expect(withNewest(list(['1']), list(['9', '8'], 'more'))).toBeUndefined();
    const many = Array.from({ length: 150 }, (_none, index) => String(1000 - index));
    expect(withNewest(list(many), list(['2000']))).toBeUndefined();
  });
});
