import { describe, expect, it } from '@jest/globals';
import type { RequestContext } from '../request/context.ts';
import { FairSlots } from '../limits/bulkheads.ts';
import { createAuthenticate } from './authenticate-stage.ts';

const window = { granted: true, limit: 600, remaining: 599, resetSeconds: 60 };

/** The error for a caller whose environment is not in the table. */
function refusalOf(complete: boolean): unknown {
  const stage = createAuthenticate({
    failures: { count: () => window, beginSignatureCheck: () => () => undefined },
    nowMs: () => 0,
    jwts: { verify: () => ({ kind: 'refused', reason: undefined }) },
    waiting: new FairSlots(1),
    overloads: {} as never,
    complete: () => complete,
  });
  const inbound = { authorization: `Bearer gwt_${'a'.repeat(43)}` };
  const ctx = {
    environmentName: 'unserved',
    target: { hostEnvironment: undefined },
    inbound,
    tokenField: 'authorization',
    clientIp: '127.0.0.1',
  };
  try {
    return stage(ctx as unknown as RequestContext);
  } catch (error) {
    return error;
  }
}

describe('a caller of an environment that this data plane does not serve', () => {
  it('gets gateway_not_ready, not 401, while the configuration of an environment is not loaded', () => {
    expect(refusalOf(false)).toMatchObject({ code: 'gateway_not_ready' });
  });

  it('gets 401 if all are loaded, because then the environment does not exist', () => {
    expect(refusalOf(true)).toMatchObject({ code: 'authentication_failed' });
  });
});
