import { describe, expect, it } from '@jest/globals';
import { facetOptions } from './facet-options.ts';
import { facetChange, facetText, FACETS, facetValue, type FacetName } from './facets.ts';

const facetOf = (name: FacetName) => {
  const facet = FACETS.find((one) => one.name === name);
  if (facet === undefined) throw new Error(name);
  return facet;
};
const tokenName = (id: string) => (id === 'tok_1' ? 'billing' : id);

describe('the values of a filter', () => {
  it('are those that requests have, with their counts and names', () => {
    const counted = [
      { value: 'tok_1', requests: 4 },
      { value: 'tok_2', requests: 1 },
    ];
    expect(facetOptions(facetOf('token'), counted, '', tokenName)).toEqual([
      { value: 'tok_1', label: 'billing', count: 4 },
      { value: 'tok_2', label: 'tok_2', count: 1 },
    ]);
    expect(
      facetOptions(facetOf('token'), counted, 'BILL', tokenName).map(({ value }) => value),
    ).toEqual(['tok_1', 'BILL']);
  });

  it('have the classes of statuses, with the sums of their statuses', () => {
    const counted = [
      { value: '200', requests: 9 },
      { value: '503', requests: 2 },
      { value: '502', requests: 1 },
    ];
    const options = facetOptions(facetOf('status'), counted, '5', tokenName);
    expect(options).toEqual([
      { value: '5xx', label: '5xx, server errors', count: 3 },
      { value: '503', label: '503', count: 2 },
      { value: '502', label: '502', count: 1 },
      { value: '5', label: 'Filter by “5”' },
    ]);
  });

  it('are few, however many there are', () => {
    const counted = Array.from({ length: 200 }, (_none, index) => ({
      value: `r${index}`,
      requests: 1,
    }));
    expect(facetOptions(facetOf('route'), counted, '', tokenName).length).toBe(50);
  });
});

it('names what is chosen', () => {
  expect(facetText(facetOf('grpc'), '14', tokenName)).toBe('14 UNAVAILABLE');
  expect(facetText(facetOf('slower'), '1000', tokenName)).toBe('1 s');
  expect(facetText(facetOf('slower'), '250', tokenName)).toBe('250 ms');
  expect(facetText(facetOf('outcome'), 'success', tokenName)).toBe('answered');
  expect(facetText(facetOf('status'), '5xx', tokenName)).toBe('5xx');
});

it('is set in the URL under its name', () => {
  expect(facetChange('slower', '250')).toEqual({ slower: 250 });
  expect(facetChange('slower', 'long')).toEqual({ slower: undefined });
  expect(facetChange('route', 'charges')).toEqual({ route: 'charges' });
  expect(facetValue({ slower: 250 }, 'slower')).toBe('250');
  expect(facetValue({}, 'route')).toBeUndefined();
});
