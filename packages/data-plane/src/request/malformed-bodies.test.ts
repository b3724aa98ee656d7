import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { startTestDataPath, type TestDataPath } from '../../test/data-path.ts';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawConnection, requestText } from '@gateway/shared/test/raw-client';
import { expectGatewayHeaders, expectRefusal } from '@gateway/shared/test/refusal';
import { startUpstream } from '@gateway/shared/test/upstream';

const opened = closeAfterEach();
const REFUSED = { status: 400, outcome: 'rejected', error_code: 'invalid_request' };

async function setUp(environment: Record<string, string> = {}) {
  const upstream = opened(await startUpstream());
  const gateway = opened(await startTestDataPath({ upstreams: [upstream.url] }, { environment }));
  return { upstream, gateway };
}

async function begin(gateway: TestDataPath, body: string, target = '/v1/proxy/test') {
  const connection = opened(await rawConnection(gateway.port));
  const lines = ['Host: gateway.test', `Authorization: Bearer ${gateway.token}`];
  lines.push('Transfer-Encoding: chunked');
  connection.send(requestText({ method: 'PUT', target, lines, body }));
  return connection;
}

async function expectOneRefused(gateway: TestDataPath): Promise<void> {
  expect(gateway.records).toHaveLength(1);
  expect(await gateway.inFlight()).toBe(0);
  const metrics = await gateway.registry.metrics();
  expect(metrics).toContain('gateway_malformed_requests_total{reason="malformed_body"} 1\n');
}

describe('a request whose body is not well-formed', () => {
  it('is refused with an id and a record, and its connection closes', async () => {
    const { gateway, upstream } = await setUp();
    const connection = await begin(gateway, '2\r\nok\r\n');
    await eventually(async () => expect(await gateway.inFlight()).toBe(1));
    connection.send('zz\r\n');
    const response = await connection.response();
    const error = await expectRefusal(response, 400, 'invalid_request');
    expect(error.message).toBe('The request was refused: the body is not well-formed.');
    expectGatewayHeaders(response.headers);
    expect(response.headers.get('connection')).toBe('close');
    await eventually(() => expect(connection.ended).toBe(true));
    expect(await gateway.recordOf(response)).toMatchObject({ ...REFUSED, attempts: [] });
    expect(upstream.seen).toHaveLength(0);
    await expectOneRefused(gateway);
  });

  it('is refused in the same way if its first bytes arrive with the head', async () => {
    const { gateway, upstream } = await setUp();
    const connection = await begin(gateway, 'zz\r\n');
    const response = await connection.response();
    await expectRefusal(response, 400, 'invalid_request');
    await eventually(() => expect(connection.ended).toBe(true));
    expect(await gateway.recordOf(response)).toMatchObject({ ...REFUSED, route: 'test' });
    expect(upstream.seen).toHaveLength(0);
    await expectOneRefused(gateway);
  });

  it('is refused in the same way if a part was forwarded, which the record shows', async () => {
    const { gateway } = await setUp({ MAX_RETRY_BODY_BYTES: '4' });
    const connection = await begin(gateway, '5\r\nhello\r\n');
    await eventually(async () => expect(await gateway.inFlight()).toBe(1));
    connection.send('zz\r\n');
    const response = await connection.response();
    await expectRefusal(response, 400, 'invalid_request');
    const attempts = [{ error: 'request_body' }];
    expect(await gateway.recordOf(response)).toMatchObject({ ...REFUSED, attempts });
    await expectOneRefused(gateway);
  });

  it('gets the same response if a stage refuses it before its body is read', async () => {
    const { gateway } = await setUp();
    const connection = await begin(gateway, 'zz\r\n', '/v1/proxy/nowhere');
    await expectRefusal(await connection.response(), 404, 'route_not_found');
    await eventually(() => expect(connection.ended).toBe(true));
    expect(connection.receivedText).toBe('');
    await expectOneRefused(gateway);
  });

  it('is also refused on the way to the control plane', async () => {
    const upstream = opened(await startUpstream());
    const environment = { CONTROL_PLANE_URL: upstream.url };
    const gateway = opened(await startTestDataPath({ upstreams: [upstream.url] }, { environment }));
    const small = await begin(gateway, '2\r\nok\r\n', '/v1/routes');
    await eventually(async () => expect(await gateway.inFlight()).toBe(1));
    small.send('zz\r\n');
    await expectRefusal(await small.response(), 400, 'invalid_request');
    const large = await begin(gateway, `11170\r\n${'a'.repeat(70_000)}\r\n`, '/v1/routes');
    await eventually(async () => expect(await gateway.inFlight()).toBe(1));
    large.send('zz\r\n');
    await expectRefusal(await large.response(), 400, 'invalid_request');
    expect(upstream.seen).toHaveLength(0);
  });
});
