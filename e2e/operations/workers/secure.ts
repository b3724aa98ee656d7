import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:tls';
import { text } from 'node:stream/consumers';
import { WebSocket } from 'ws';

/** A port with TLS on this machine. */
export interface SecurePort {
  readonly port: number;
  /** Certificate of the authority, PEM. */
  readonly ca: string;
  readonly token: string;
}

/** The names in the certificate that a new connection receives. */
export async function shownNames({ port, ca }: SecurePort): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', ca });
  await once(socket, 'secureConnect');
  const names = String(socket.getPeerCertificate().subjectaltname);
  socket.destroy();
  return names;
}

/** Sends a GET over HTTP/2 on a new connection; returns `<status>: <body>`. */
export async function getByHttp2({ port, ca, token }: SecurePort, path: string): Promise<string> {
  const session = connectHttp2(`https://127.0.0.1:${port}`, { ca });
  try {
    const stream = session.request({ ':path': path, authorization: `Bearer ${token}` });
    const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
    return `${String(headers[':status'])}: ${await text(stream)}`;
  } finally {
    session.destroy();
  }
}

/** Sends a message on a new WebSocket; returns the answer. */
export async function echo(target: SecurePort, path: string, message: string): Promise<string> {
  const { port, ca, token } = target;
  const headers = { authorization: `Bearer ${token}` };
  const socket = new WebSocket(`wss://127.0.0.1:${port}${path}`, { ca, headers });
  try {
    await once(socket, 'open');
    const answered = once(socket, 'message') as Promise<[Buffer]>;
    socket.send(message);
    return (await answered)[0].toString();
  } finally {
    socket.terminate();
  }
}
