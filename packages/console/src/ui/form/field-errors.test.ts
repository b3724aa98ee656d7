import { describe, expect, it } from '@jest/globals';
import { fieldErrors, standingDetails } from './field-errors.ts';

it('the message about a value ends when another one is typed, and others stay', () => {
  const details = [
    { path: 'health_check.interval_ms', message: 'must be a time' },
    { path: 'upstreams.1.url', message: 'must be a URL' },
    { path: 'name', message: 'is required' },
  ];
  const sent = { health_check: { interval_ms: 'soon' }, upstreams: [{ url: 'a' }, { url: 'b' }] };
  const typed = { ...sent, health_check: { interval_ms: 500 } };
  const paths = (draft: object) =>
    standingDetails(details, sent, { ...draft }).map(({ path }) => path);
  expect(paths(sent)).toEqual(['health_check.interval_ms', 'upstreams.1.url', 'name']);
  expect(paths(typed)).toEqual(['upstreams.1.url', 'name']);
  expect(paths({ ...sent, upstreams: [{ url: 'b' }], name: 'x' })).toEqual([
    'health_check.interval_ms',
  ]);
});

describe('errors of fields', () => {
  const errors = fieldErrors([
    { path: 'timeout_ms', message: 'must be a whole number' },
    { path: 'retry.on_statuses.1', message: 'must be 429' },
    { path: 'retry.on_statuses', message: 'must not repeat an item' },
  ]);

  it('stand at the field that the API names', () => {
    expect(errors.at('timeout_ms')).toBe('must be a whole number');
    expect(errors.at('timeout')).toBeUndefined();
    expect(errors.at('retry')).toBeUndefined();
  });

  it('stand at a list if they name an item', () => {
    expect(errors.within('retry.on_statuses')).toBe('item 2 must be 429; must not repeat an item');
    expect(errors.within('retry.on')).toBeUndefined();
    const typed = fieldErrors([{ path: 'headers.bad header ', message: 'must be a name' }]);
    expect(typed.within('headers')).toBe('“bad header” must be a name');
  });
});
