import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Program } from './program.ts';
import { startServer, type Received } from './server.ts';

const HEAD_END = '\r\n\r\n';

/**
 * Serves the repositories of a folder with git's own CGI program, as nginx does: it runs the program when it has the
 * whole body. Asks for a password, unless a gateway did.
 */
export function startGitServer(git: Program, folder: string) {
  return startServer(async (received, response) => {
    const { authorization, 'x-forwarded-for': forwarded } = received.request.headers;
    if (authorization !== undefined || forwarded !== undefined) {
      await serve(git, folder, received, response);
    } else response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
  });
}

async function serve(
  git: Program,
  folder: string,
  { request, method, path, body }: Received,
  response: ServerResponse,
): Promise<void> {
  const { pathname, search } = new URL(path, 'http://git');
  const { headers } = request;
  const backend = spawn(git.file, ['http-backend'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: {
      ...process.env,
      ...git.env,
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_CONFIG_NOSYSTEM: '1',
      REMOTE_USER: 'git',
      REQUEST_METHOD: method,
      PATH_INFO: decodeURIComponent(pathname),
      QUERY_STRING: search.slice(1),
      CONTENT_TYPE: headers['content-type'],
      CONTENT_LENGTH: String(body.length),
      HTTP_CONTENT_ENCODING: headers['content-encoding'],
      GIT_PROTOCOL: headers['git-protocol']?.toString(),
    },
  });
  const ended = once(backend, 'close');
  // The program may end before it has read everything.
  backend.stdin.on('error', () => undefined);
  backend.stdin.end(body);
  const chunks: Buffer[] = [];
  backend.stdout.on('data', (chunk: Buffer) => void chunks.push(chunk));
  await ended;
  const output = Buffer.concat(chunks);
  const end = output.indexOf(HEAD_END);
  writeHead(response, output.toString('latin1', 0, end));
  response.end(output.subarray(end + HEAD_END.length));
}

/** The head that a CGI program writes (RFC 3875 section 6). */
function writeHead(response: ServerResponse, head: string): void {
  let status = 200;
  for (const line of head.split('\r\n')) {
    const [name = '', value = ''] = line.split(/: */, 2);
    if (name.toLowerCase() === 'status') status = Number.parseInt(value, 10);
    else response.setHeader(name, value);
  }
  response.writeHead(status);
}
