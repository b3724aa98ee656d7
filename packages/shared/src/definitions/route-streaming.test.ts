import { describe, expect, it } from '@jest/globals';
import { streamingProblems } from './route-streaming.ts';

describe('a route with streaming', () => {
  it.each([
    [{ respond: {} }, 'streaming', 'must be false on a route that answers itself'],
    [{ redirect: {} }, 'streaming', 'must be false on a route that answers itself'],
    [{ mirror: {} }, 'mirror', 'must be null on a route with streaming'],
  ])('contradicts %j', (other, field, message) => {
    expect([...streamingProblems({ streaming: true, ...other })]).toEqual([
      { path: [field], message },
    ]);
    expect([...streamingProblems({ streaming: false, ...other })]).toEqual([]);
  });

  it('needs nothing else', () => {
    const none = { respond: null, redirect: null, mirror: null };
    expect([...streamingProblems({ streaming: true, ...none })]).toEqual([]);
    expect([...streamingProblems({})]).toEqual([]);
  });
});
