import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  ERROR,
  fieldBlock,
  frame,
  FRAME,
  FrameClient,
  HEAD,
  reset,
  SETTING,
  settings,
  windowUpdate,
} from '@gateway/http/test/http2-frames';
import { eventually } from '@gateway/shared/test/eventually';
import { startUpstream, type TestUpstream } from '@gateway/shared/test/upstream';
import { pseudo } from '../http2-abuse.ts';
import { startSecureDataPath, type SecureDataPath } from '../secure-data-path.ts';

const BODY = 'x'.repeat(30_000);
const WINDOW = 1_000;

let upstream: TestUpstream;
let gateway: SecureDataPath;
let connection: FrameClient;

beforeEach(async () => {
  upstream = await startUpstream((_seen, response) => void response.end(BODY));
  const environment = { BODY_IDLE_TIMEOUT_MS: '400', DRAIN_TIMEOUT_MS: '50' };
  gateway = await startSecureDataPath({ upstreams: [upstream.url] }, { environment });
  connection = await FrameClient.openTls(gateway.port, gateway.authority.certPem);
});

afterEach(async () => {
  connection.destroy();
  await gateway.stop();
  await upstream.close();
});

/** A request whose caller takes only the start of the response. */
async function request(): Promise<void> {
  const fields = [...pseudo(), ['authorization', `Bearer ${gateway.token}`] as const];
  connection.send(
    settings([SETTING.initialWindowSize, WINDOW]),
    frame(FRAME.headers, HEAD, 1, fieldBlock(fields)),
  );
  await connection.frame(FRAME.data, 1);
}

describe('a response of HTTP/2 of which only the start was sent is no success', () => {
  const left = ['client_aborted', null] as const;
  it.each<[string, () => unknown, string, string | null]>([
    ['the caller closes the connection', () => connection.socket.destroy(), ...left],
    ['the caller ends the connection', () => connection.socket.end(), ...left],
    ['the caller cancels it', () => connection.send(reset(ERROR.cancel)), ...left],
    ['the caller resets it without an error', () => connection.send(reset(ERROR.noError)), ...left],
    [
      'the gateway cuts it because it stalls',
      () => undefined,
      ...(['rejected', 'response_timeout'] as const),
    ],
    ['a drain cuts it', () => gateway.stop(), ...(['rejected', 'gateway_stopping'] as const)],
  ])('if %s', async (_how, cut, outcome, error_code) => {
    await request();
    void cut();
    await eventually(() => expect(gateway.records).toHaveLength(1));
    expect(gateway.records[0]).toMatchObject({ status: 200, outcome, error_code });
  });

  it.each([
    ['stays', () => undefined],
    ['closes', () => void connection.socket.destroy()],
  ])('but one that was sent is, if the caller then %s', async (_how, leave) => {
    await request();
    connection.send(windowUpdate(BODY.length), windowUpdate(BODY.length, 0));
    const read = () =>
      connection.of(FRAME.data).reduce((sum, { payload }) => sum + payload.length, 0);
    await eventually(() => expect(read()).toBe(BODY.length));
    leave();
    await eventually(() => expect(gateway.records).toHaveLength(1));
    expect(gateway.records[0]).toMatchObject({ status: 200, outcome: 'success' });
  });
});
