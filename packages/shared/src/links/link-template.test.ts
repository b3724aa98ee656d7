import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { fillLink, LINK_PLACEHOLDERS } from './link-template.ts';

describe('a link to another tool', () => {
  it('has the values in the places of their names', () => {
    const template = 'https://logs.example.com/?q={request_id}&from={from_ms}#{route}';
    expect(fillLink(template, { request_id: 'req_1', from_ms: 5, route: 'charges' })).toBe(
      'https://logs.example.com/?q=req_1&from=5#charges',
    );
  });

  it('does not exist if a value that it needs is not known', () => {
    const template = 'https://traces.example.com/{trace_id}';
    for (const values of [{}, { trace_id: null }, { trace_id: '' }, { route: 'charges' }]) {
      expect(fillLink(template, values)).toBeUndefined();
    }
    expect(fillLink('https://traces.example.com/{toString}', {})).toBeUndefined();
  });

  it('leads to the same server, path and parameters, whatever the values are', () => {
    const template = 'https://traces.example.com/find?trace={trace_id}&route={route}';
    const text = fc.string({ unit: 'binary', minLength: 1 }).filter((one) => one.isWellFormed());
    fc.assert(
      fc.property(text, text, (trace, route) => {
        const { origin, pathname, searchParams, hash } = new URL(
          fillLink(template, { trace_id: trace, route }) ?? '',
        );
        expect([origin, pathname, hash]).toEqual(['https://traces.example.com', '/find', '']);
        expect([...searchParams]).toEqual([
          ['trace', trace],
          ['route', route],
        ]);
      }),
    );
  });

  it('shows a value that is no well-formed text as far as it can', () => {
    expect(fillLink('https://a.example/{route}', { route: 'a\uD800' })).toBe(
      'https://a.example/a%EF%BF%BD',
    );
  });

  it('names each placeholder once', () => {
    expect(new Set(LINK_PLACEHOLDERS).size).toBe(LINK_PLACEHOLDERS.length);
  });
});
