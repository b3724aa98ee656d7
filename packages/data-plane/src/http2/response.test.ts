import type { ServerHttp2Stream } from 'node:http2';
import { Duplex } from 'node:stream';
import { expect, it } from '@jest/globals';
import { ConnectionGuard } from '@gateway/http1/connection-guard';
import { eventually } from '@gateway/shared/test/eventually';
import { Http2Response } from './response.ts';

it('ends its connection if the stream of an upload cannot be stopped after the response', async () => {
  const bug = new Error('a bug');
  const errors: unknown[] = [];
  const stream = new Duplex({
    read: () => undefined,
    write: (_chunk, _encoding, callback) => {
      callback();
    },
  });
  const close = () => {
    throw bug;
  };
  const fake = Object.assign(stream, { close }) as unknown as ServerHttp2Stream;
  const connection = { destroy: () => undefined };
  const guard = new ConnectionGuard(connection, (error) => void errors.push(error));
  const response = new Http2Response(fake, false, guard);
  response.end('ok');
  await eventually(() => expect(errors).toEqual([bug]));
});
