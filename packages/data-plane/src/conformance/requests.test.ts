import { describe, expect, it } from '@jest/globals';
import { REQUEST_SUITES } from './testing/cases/all.ts';
import { HOST, text, TARGET, AUTHORIZED, post } from './testing/case.ts';
import { runSuites } from './testing/suites.ts';
import { startRig } from './testing/rig.ts';
import { closeAfterEach } from '../testing/opened.ts';
import { rawConnection } from '../testing/raw-client.ts';
import { expectRefusal } from '../testing/refusal.ts';
import { eventually } from '@gateway/shared/testing/eventually';

runSuites(REQUEST_SUITES);

const opened = closeAfterEach();

describe('a quota that is used up', () => {
  it('is told before a body is asked for (RFC 9110 section 10.1.1)', async () => {
    const limit = { limit: 1, window_seconds: 86_400, per: 'route' } as const;
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
