import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { startUpstream, type TestUpstream } from '@gateway/shared/test/upstream';
import { HEAD, pseudo } from '../http2-abuse.ts';
import {
  fieldBlock,
  FRAME,
  frame,
  frameConnection,
  uint32,
  type FrameConnection,
} from '../http2-frames.ts';
import { startSecureDataPath, type SecureDataPath } from '../secure-data-path.ts';

const BODY = 'x'.repeat(30_000);
const WINDOW = 1_000;
const INITIAL_WINDOW_SIZE = 4;
const NO_ERROR = 0;
const CANCEL = 8;

let upstream: TestUpstream;
let gateway: SecureDataPath;
let connection: FrameConnection;

beforeEach(async () => {
  upstream = await startUpstream((_seen, response) => void response.end(BODY));
  const environment = { BODY_IDLE_TIMEOUT_MS: '400', DRAIN_TIMEOUT_MS: '50' };
  gateway = await startSecureDataPath({ upstreams: [upstream.url] }, { environment });
  connection = await frameConnection(gateway.port, gateway.authority.certPem);
});

afterEach(async () => {
  connection.destroy();
  await gateway.stop();
  await upstream.close();
});

/** A request whose caller takes only the start of the response. */
async function request(): Promise<void> {
  const window = Buffer.from([0, INITIAL_WINDOW_SIZE, ...uint32(WINDOW)]);
  connection.send(FRAME.settings, 0, 0, window);
  const fields = [...pseudo(), ['authorization', `Bearer ${gateway.token}`] as const];
  connection.send(FRAME.headers, HEAD, 1, fieldBlock(fields));
  await connection.frame(FRAME.data, 1);
}

const reset = (code: number) => connection.send(FRAME.rstStream, 0, 1, uint32(code));

const giveWindow = (stream: number, bytes: number) =>
  frame(FRAME.windowUpdate, 0, stream, uint32(bytes));

describe('a response of HTTP/2 of which only the start was sent is no success', () => {
  const left = ['client_aborted', null] as const;
  it.each<[string, () => unknown, string, string | null]>([
    ['the caller closes the connection', () => connection.socket.destroy(), ...left],
    ['the caller ends the connection', () => connection.socket.end(), ...left],
    ['the caller cancels it', () => reset(CANCEL), ...left],
    ['the caller resets it without an error', () => reset(NO_ERROR), ...left],
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
    connection.sendAll([giveWindow(1, BODY.length), giveWindow(0, BODY.length)]);
    const read = () =>
      connection.frames
        .filter(({ type }) => type === FRAME.data)
        .reduce((sum, { payload }) => sum + payload.length, 0);
    await eventually(() => expect(read()).toBe(BODY.length));
    leave();
    await eventually(() => expect(gateway.records).toHaveLength(1));
    expect(gateway.records[0]).toMatchObject({ status: 200, outcome: 'success' });
  });
});
