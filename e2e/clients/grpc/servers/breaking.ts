import { constants, createServer, type ServerHttp2Stream } from 'node:http2';
import { encodeBytes } from '../bytes-value.ts';
import { openPort } from './server.ts';

/** The field of metadata that says how a response is to end. */
export const END_FIELD = 'x-end';

/** How a response ends after its head and a whole message. */
export type BreakingEnd = keyof typeof ENDS;

/** A server of gRPC whose responses break off in many ways, when the test says so. */
export async function startBreakingServer() {
  const server = createServer();
  const begun: (() => void)[] = [];
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    stream.on('error', () => undefined).resume();
    if (headers[':method'] === 'GET') {
      // A check of its health.
      stream.respond({ ':status': 200 }, { endStream: true });
      return;
    }
    const end: End = ENDS[headers[END_FIELD] as BreakingEnd];
    const { withHalf = false, trailers } = end;
    stream.respond(
      { ':status': 200, 'content-type': 'application/grpc' },
      { waitForTrailers: trailers !== undefined },
    );
    if (typeof trailers === 'object') {
      stream.once('wantTrailers', () => stream.sendTrailers(trailers));
    }
    const half = withHalf ? [messageOf(100).subarray(0, 50)] : [];
    stream.write(Buffer.concat([messageOf(1), ...half]));
    begun.push(() => end.run(stream));
  });
  const port = await openPort((socket) => server.emit('connection', socket));
  return {
    ...port,
    /** Ends the responses that have begun. */
    end: () => begun.splice(0).forEach((run) => run()),
  };
}

/** The bytes of a message before which its length stands. */
function messageOf(bytes: number): Buffer {
  const message = encodeBytes(Buffer.alloc(bytes, 'm'));
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

interface End {
  /** Whether a part of a second message comes with the first one. */
  readonly withHalf?: boolean;
  /** `none`: they do not come. */
  readonly trailers?: Readonly<Record<string, string>> | 'none';
  readonly run: (stream: ServerHttp2Stream) => void;
}

const loseConnection = ({ session }: ServerHttp2Stream) => {
  session?.destroy();
};
const end = (stream: ServerHttp2Stream) => {
  stream.end();
};
/** Its end waits for trailers, which do not come: node:http2 would end a stream before it resets it. */
const cancel = (stream: ServerHttp2Stream) => {
  stream.close(constants.NGHTTP2_CANCEL);
};

const ENDS = {
  'its connection is lost': { run: loseConnection },
  'its connection is lost within a message': { withHalf: true, run: loseConnection },
  'it is reset with CANCEL': { trailers: 'none', run: cancel },
  'it is reset with CANCEL within a message': { trailers: 'none', withHalf: true, run: cancel },
  'it ends with CANCELLED': {
    trailers: { 'grpc-status': '1', 'grpc-message': 'not needed' },
    run: end,
  },
  'it ends without a status': { run: end },
  'it ends without a status within a message': { withHalf: true, run: end },
} satisfies Readonly<Record<string, End>>;
