import { describe, expect, it } from '@jest/globals';
import { systemClock } from '@gateway/shared/clock';
import { inboundHeaders } from './inbound-headers.ts';
import { parseProxyTarget } from './proxy-path.ts';
import { RequestContext } from './context.ts';

describe('the end of a request', () => {
  it('runs every release, last in, first out, also if some of them throw', () => {
    const released: string[] = [];
    const body = { release: () => void released.push('body') };
    const exchange = {
      head: { method: 'GET', url: '/', fields: [] },
      connection: { address: '127.0.0.1' },
    };
    const options = {
      clock: systemClock,
      makeId: () => 'req_1',
      trustedProxies: { texts: [] },
      trace: () => undefined,
      table: () => undefined,
    };
    const ctx = new RequestContext(
      exchange as never,
      { inbound: inboundHeaders([]), target: parseProxyTarget('/', '') },
      options as never,
    );
    ctx.body = body as never;
    for (const name of ['first', 'second', 'third', 'fourth', 'fifth']) {
      ctx.onFinish(() => {
        released.push(name);
        if (name === 'first' || name === 'fourth') throw new Error(`a bug in the ${name}`);
      });
    }
    expect(() => ctx.finish()).toThrow('a bug in the');
    expect(released).toEqual(['fifth', 'fourth', 'third', 'second', 'first', 'body']);
  });
});
