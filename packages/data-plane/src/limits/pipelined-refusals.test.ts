import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawConnection, requestText } from '@gateway/shared/test/raw-client';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { startUpstream } from '@gateway/shared/test/upstream';
import { countedConnections } from '../../test/connection-counts.ts';
import { startTestDataPath } from '../../test/data-path.ts';

const opened = closeAfterEach();
const BODY = 'x'.repeat(1001);

/** A refused body, with requests in it and behind it. */
async function pipeline(framing: string, body: string, more: readonly string[] = []) {
  const upstream = opened(await startUpstream());
  const gateway = opened(
    await startTestDataPath({ upstreams: [upstream.url], max_body_bytes: 1000 }),
  );
  const connection = opened(await rawConnection(gateway.port));
  const lines = ['Host: gateway.test', `Authorization: Bearer ${gateway.token}`];
  const behind = requestText({ target: '/v1/proxy/test/behind', lines });
  const refused = requestText({ method: 'POST', lines: [...lines, framing, ...more], body });
  connection.send(refused + behind.repeat(3));
  await expectRefusal(await connection.response(), 413, 'payload_too_large');
  return { upstream, gateway, connection };
}

describe.each([
  ['of announced length', `Content-Length: ${BODY.length}`, BODY],
  ['in chunks', 'Transfer-Encoding: chunked', `3e9\r\n${BODY}\r\n0\r\n\r\n`],
])('requests behind a refused body %s', (_case, framing, body) => {
  it('are not forwarded if the connection ends after the response', async () => {
    const { upstream, gateway, connection } = await pipeline(framing, body, ['Connection: close']);
    await eventually(() => expect(connection.ended).toBe(true));
    await eventually(async () => {
      const { accepted, answered, open } = await countedConnections(gateway.registry);
      expect({ accepted, answered, open }).toEqual({ accepted: 1, answered: 1, open: 0 });
    });
    expect(upstream.seen).toEqual([]);
    expect(gateway.records).toMatchObject([{ status: 413 }]);
    expect(await gateway.inFlight()).toBe(0);
  });

  it('are served in order if the connection stays, and each has its record', async () => {
    const { upstream, gateway, connection } = await pipeline(framing, body);
    for (let again = 0; again < 3; again += 1) {
      expect((await connection.response()).status).toBe(200);
    }
    expect(upstream.seen.map(({ url }) => url)).toEqual(['/behind', '/behind', '/behind']);
    await eventually(() => expect(gateway.records).toHaveLength(4));
    expect(gateway.records.map(({ status }) => status)).toEqual([413, 200, 200, 200]);
    expect(await gateway.inFlight()).toBe(0);
  });
});
