import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { readDirectly } from '../sockets/direct-reads.ts';
import type { ReadSocket } from '../sockets/read-socket.ts';
import { PriorKnowledge } from './prior-knowledge.ts';
import { PREFACE } from './protocol.ts';

const clock = manualClock();
const priorKnowledge = new PriorKnowledge(clock, 1000);
const server = createServer((socket) => {
  const read = (version: string) => (chosen: ReadSocket) => {
    text = `${version}:`;
    chosen.readBy((bytes) => (text += bytes.toString('latin1')));
  };
  priorKnowledge.choose(readDirectly(socket), { http1: read('1'), http2: read('2') });
});
let text = '';
let client: Socket;

function connections(): Promise<number> {
  return new Promise((resolve) => {
    server.getConnections((_error, count) => {
      resolve(count);
    });
  });
}

beforeEach(async () => {
  text = '';
  if (!server.listening) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }
  client = connect({
    port: (server.address() as AddressInfo).port,
    host: '127.0.0.1',
    noDelay: true,
  });
  await once(client, 'connect');
});

afterEach(() => {
  client.destroy();
  server.close();
});

describe('a connection without TLS', () => {
  it.each([
    ['2', PREFACE.toString('latin1')],
    ['2', `${PREFACE.toString('latin1')}frames`],
    ['1', 'GET / HTTP/1.1\r\n\r\n'],
    ['1', 'POST / HTTP/1.1\r\n\r\n'],
    ['1', 'PRI * HTTP/2.0\r\n\r\nXX'],
  ])('is one of HTTP/%s if it begins with %j, whole or byte by byte', async (version, sent) => {
    for (const byByte of [false, true]) {
      text = '';
      const one = connect((server.address() as AddressInfo).port, '127.0.0.1').setNoDelay();
      for (const part of byByte ? sent : [sent]) {
        one.write(part);
        await new Promise(setImmediate);
      }
      await eventually(() => expect(text).toBe(`${version}:${sent}`), { intervalMs: 1 });
      one.destroy();
    }
  });

  it('is one of HTTP/1.1 if its first bytes do not arrive', async () => {
    client.write('PRI');
    await eventually(() => expect(client.bytesWritten).toBe(3));
    await new Promise((resolve) => server.getConnections(resolve));
    clock.advance(1000);
    await eventually(() => expect(text.startsWith('1:')).toBe(true), { intervalMs: 1 });
    client.write('!');
    await eventually(() => expect(text).toBe('1:PRI!'), { intervalMs: 1 });
  });

  it('closes with the others whose version is not known, and not if it is known', async () => {
    const other = connect((server.address() as AddressInfo).port, '127.0.0.1');
    other.write('GET');
    await eventually(() => expect(text).toBe('1:GET'), { intervalMs: 1 });
    await eventually(async () => expect(await connections()).toBe(2), { intervalMs: 1 });
    priorKnowledge.close();
    await once(client, 'close');
    other.write(' /');
    await eventually(() => expect(text).toBe('1:GET /'), { intervalMs: 1 });
    other.destroy();
  });
});
