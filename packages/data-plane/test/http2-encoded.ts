import { once } from 'node:events';
import { connect, type ClientHttp2Session, type ClientSessionOptions } from 'node:http2';
import { Duplex } from 'node:stream';

export type SentFields = readonly (readonly [string, string])[];

/** The bytes that Node's own HTTP/2 client sends for these requests, one stream each, from the preface on. */
export async function encodedByNode(requests: readonly SentFields[]): Promise<Buffer> {
  const written: Buffer[] = [];
  const wire = new Duplex({
    read: () => undefined,
    write(bytes: Buffer, _encoding, callback) {
      written.push(bytes);
      callback();
    },
  });
  // `strictSingleValueFields` is missing in the types.
  const options: ClientSessionOptions & { strictSingleValueFields: boolean } = {
    createConnection: () => wire,
    strictSingleValueFields: false,
    peerMaxConcurrentStreams: 1000,
  };
  const session: ClientHttp2Session = connect('http://gateway.test', options);
  session.on('error', () => undefined);
  await once(session, 'connect');
  for (const fields of requests) {
    const stream = session.request([':path', '/', ...fields.flat()] as never, { endStream: true });
    stream.on('error', () => undefined);
  }
  const ends = () => Buffer.concat(written).includes(END);
  session.ping(END, () => undefined);
  while (!ends()) await new Promise((resolve) => setImmediate(resolve));
  session.destroy();
  return Buffer.concat(written);
}

const END = Buffer.from('the end!');
