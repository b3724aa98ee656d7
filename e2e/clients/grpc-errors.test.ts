import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectCodeOf } from '@gateway/shared/errors/connect-codes';
import { ERROR_CODES, ERROR_TABLE, type ErrorCode } from '@gateway/shared/errors/error-table';
import { grpcNameOfError } from '@gateway/shared/errors/grpc-statuses';
import { CallError, type CallClient, type Fields } from './grpc/calls.ts';
import { openConnectClient } from './grpc/clients/connect.ts';
import { openGrpcJsClient } from './grpc/clients/grpc-js.ts';
import {
  CODE_FIELD,
  MESSAGE,
  SENT_FIELD,
  startFailingGateway,
  type FailingGateway,
} from './grpc/failing-gateway.ts';

const GRPC_ERRORS = ['status', 'trailers'] as const;

/** What a client reports of a call that the gateway fails. */
async function reported(client: CallClient, code: ErrorCode, wasSent = true) {
  const metadata: Fields = [[CODE_FIELD, code], ...(wasSent ? ([[SENT_FIELD, '1']] as const) : [])];
  try {
    for await (const _message of client.call('unary', [Buffer.from('x')], { metadata }).messages) {
      throw new Error('a message has come');
    }
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    return { status: error.status, message: error.message };
  }
  throw new Error('the call has not failed');
}

describe.each(GRPC_ERRORS)('errors of the gateway on a route with grpc_errors: %s', (mode) => {
  let gateway: FailingGateway;
  const clients: CallClient[] = [];
  const opened = (client: CallClient) => {
    clients.push(client);
    return client;
  };

  beforeAll(async () => {
    gateway = await startFailingGateway(mode);
  });

  afterAll(async () => {
    for (const client of clients) client.close();
    await gateway.stop();
  });

  it('are to grpc-js their gRPC status and message', async () => {
    const client = opened(openGrpcJsClient(gateway.url));
    for (const code of ERROR_CODES) {
      for (const wasSent of [false, true]) {
        expect({ code, ...(await reported(client, code, wasSent)) }).toEqual({
          code,
          status: grpcNameOfError(code, wasSent),
          message: `${code}: ${MESSAGE}`,
        });
      }
    }
  });

  it('are to connect-node that too with trailers, else what the HTTP status says', async () => {
    const client = opened(openConnectClient('gRPC', '2', gateway.url));
    for (const code of ERROR_CODES) {
      const { status } = ERROR_TABLE[code];
      expect({ code, ...(await reported(client, code)) }).toEqual(
        mode === 'trailers'
          ? { code, status: grpcNameOfError(code, true), message: `${code}: ${MESSAGE}` }
          : { code, status: connectCodeOf(status), message: `HTTP ${status}` },
      );
    }
  });

  it.each(['Connect', 'gRPC-Web'] as const)(
    'are to connect-node with %s what the HTTP status says',
    async (protocol) => {
      const client = opened(openConnectClient(protocol, '1.1', gateway.url));
      for (const code of ERROR_CODES) {
        const { status } = ERROR_TABLE[code];
        expect({ code, ...(await reported(client, code)) }).toEqual({
          code,
          status: connectCodeOf(status),
          // Connect expects a JSON body of its own form.
          message: protocol === 'Connect' ? '' : `HTTP ${status}`,
        });
      }
    },
  );
});
