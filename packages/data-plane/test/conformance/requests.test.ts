import { describe, expect, it } from '@jest/globals';
import { REQUEST_SUITES } from './cases/all.ts';
import { HOST, text, TARGET, AUTHORIZED, post } from './case.ts';
import { runSuites } from './suites.ts';
import { startRig } from './rig.ts';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawConnection } from '@gateway/shared/test/raw-client';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { eventually } from '@gateway/shared/test/eventually';

runSuites(REQUEST_SUITES);

const opened = closeAfterEach();

describe('a used-up quota', () => {
  it('is reported before the body is requested (RFC 9110 section 10.1.1)', async () => {
    const limit = {
      limit: 1,
      window_seconds: 86_400,
      per: 'route',
      on_store_unavailable: 'share',
    } as const;
    const rig = opened(await startRig({ rate_limit: limit }));
    const connection = opened(await rawConnection(rig.port));
    const authorized = AUTHORIZED.replace('{token}', rig.token);
    connection.send(text(`GET ${TARGET} HTTP/1.1`, [HOST, authorized]));
    expect((await connection.response()).status).toBe(200);
    const expecting = post(['Expect: 100-continue', 'Content-Length: 5']);
    connection.send(expecting.replace('{token}', rig.token));
    await expectRefusal(await connection.response(), 429, 'rate_limit_exceeded');
    await eventually(() => expect(connection.ended).toBe(true));
    expect(rig.upstream.requests).toHaveLength(1);
  });
});
