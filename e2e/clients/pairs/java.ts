import { fileURLToPath } from 'node:url';
import { findOnPath } from '@gateway/local-stack/process/find-on-path';
import type { Pair, StartedServer, Target } from '../harness/pair.ts';
import { runProgram, withFolder } from '../harness/program.ts';
import { startServer } from '../harness/server.ts';

const SOURCE = fileURLToPath(new URL('CallServer.java', import.meta.url));

const file = await findOnPath('java');

/** The client of Java's standard library, in a program that prints what it sees. */
export const java: Pair = {
  client: 'Java `HttpClient`',
  version: 'of the system',
  ...(file === undefined && { missing: 'java is not on the PATH' }),
  start,
  direct: {
    'GET, version HTTP/2 (upgrade to h2c)': '200',
    'GET, version HTTP/1.1': '200',
    'POST of 1 MB': '200, 1000000 bytes',
    'POST, length unknown (chunked)': '200, 1000000 bytes',
    'POST, `expectContinue`': '200, 1000000 bytes',
    '20 calls at once': '20 answered',
    '`Authenticator` with the token as password': '200',
    'redirect to a path': '200',
  },
  otherwise: {},
};

async function start(): Promise<StartedServer> {
  const server = await startServer(({ request, method, path, body }, response) => {
    const { authorization, 'x-forwarded-for': forwarded } = request.headers;
    if (authorization === undefined && forwarded === undefined) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="test"' }).end();
    } else if (path === '/from') response.writeHead(302, { location: '/to' }).end();
    else response.end(method === 'POST' ? `${body.length} bytes` : '');
  });
  return { urls: [server.url], close: () => server.close(), use };
}

async function use({ url, token }: Target) {
  if (file === undefined) throw new Error('java is not on the PATH');
  const { code, output } = await withFolder((folder) =>
    runProgram({ file, env: {} }, ['-XX:TieredStopAtLevel=1', SOURCE, url, token], folder),
  );
  if (code !== 0) throw new Error(output);
  const lines = output.trim().split('\n');
  return Object.fromEntries(lines.map((line) => line.split(' = ', 2) as [string, string]));
}
