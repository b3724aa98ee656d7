import { spawn } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { listen } from '@gateway/shared/test/upstream';
import type { Program } from './program.ts';
import { createHealthyServer } from './server.ts';

const HEAD_END = '\r\n\r\n';

/** Serves the repositories of a folder with git's own CGI program. It asks for a password, unless a gateway did. */
export async function startGitServer(git: Program, folder: string) {
  return listen(
    createHealthyServer((request, response) => {
      const { authorization, 'x-forwarded-for': forwarded } = request.headers;
      if (authorization === undefined && forwarded === undefined) {
        request.resume();
        response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
      } else void serve(git, folder, request, response).catch(() => response.destroy());
    }),
  );
}

async function serve(
  git: Program,
  folder: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, search } = new URL(request.url ?? '', 'http://git');
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
      REQUEST_METHOD: request.method,
      PATH_INFO: decodeURIComponent(pathname),
      QUERY_STRING: search.slice(1),
      CONTENT_TYPE: headers['content-type'],
      CONTENT_LENGTH: headers['content-length'],
      HTTP_CONTENT_ENCODING: headers['content-encoding'],
      GIT_PROTOCOL: headers['git-protocol']?.toString(),
    },
  });
  // The program may end before it has read everything.
  const sent = pipeline(request, backend.stdin).catch(() => undefined);
  let head = '';
  for await (const chunk of backend.stdout as AsyncIterable<Buffer>) {
    if (response.headersSent) {
      response.write(chunk);
      continue;
    }
    head += chunk.toString('latin1');
    const end = head.indexOf(HEAD_END);
    if (end === -1) continue;
    writeHead(response, head.slice(0, end));
    response.write(Buffer.from(head.slice(end + HEAD_END.length), 'latin1'));
  }
  await sent;
  response.end();
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
