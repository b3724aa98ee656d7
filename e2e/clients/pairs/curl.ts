import { readFile, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Pair, StartedServer, Target } from '../harness/pair.ts';
import { findProgram, runProgram, withFolder } from '../harness/program.ts';
import { startServer, type Received } from '../harness/server.ts';

const TEXT = 'A line that compresses well.\n'.repeat(7000);
const UPLOAD_BYTES = 2_000_000;

/** curl, and a server that answers by path. */
export const curl: Pair = {
  client: 'curl',
  version: 'of the system',
  start,
  direct: {
    '`-u user:token`': '200',
    '`--oauth2-bearer`': '200',
    '`-T file` (`Expect: 100-continue`)': `200, ${UPLOAD_BYTES} bytes`,
    '`-T -` (chunked)': `200, ${UPLOAD_BYTES} bytes`,
    '`-F` (form)': '200, with the file',
    '`-r 0-99`': '206, 100 bytes',
    '`--compressed`, from nginx': '200, compressed',
    '`--http2` (upgrade to h2c)': '200',
    '`--http1.0`': '200',
    '`-X PROPFIND`': '200 PROPFIND',
    '`-X QUERY`': '200 QUERY',
    'path `/Fl%F6te`': '200 /Fl%F6te',
    '`--retry 1`, 503 first': '200, 2 requests',
    '`-L`, redirect to a path': '200',
    '`-b`, cookie with `Path`': '200, sent back',
  },
  otherwise: {},
};

async function start(): Promise<StartedServer> {
  let busy = 0;
  const server = await startServer((received, response) => {
    const { path: target, method, body, request } = received;
    if (target === '/busy') {
      busy += 1;
      response.writeHead(busy === 1 ? 503 : 200, { 'retry-after': '1' }).end(String(busy));
    } else if (target === '/range') {
      response.writeHead(206, { 'content-range': `bytes 0-99/${TEXT.length}` });
      response.end(TEXT.slice(0, 100));
    } else if (target === '/text') sendAsNginx(received, response);
    else if (target === '/from') response.writeHead(302, { location: '/to' }).end();
    else if (target === '/form')
      response.end(/filename="file"/.test(body.toString('latin1')) ? 'with the file' : '');
    else if (target === '/app/set') response.setHeader('set-cookie', 'a=1; Path=/app').end();
    else if (target === '/app/get')
      response.end(request.headers.cookie === 'a=1' ? 'sent back' : 'not sent back');
    else if (method === 'PUT') response.end(`${body.length} bytes`);
    else response.end(method === 'GET' ? target : method);
  });
  return {
    urls: [server.url],
    route: { methods: ['GET', 'POST', 'PUT', 'PROPFIND', 'QUERY'] },
    close: () => server.close(),
    use,
  };
}

/** With its default settings nginx does not compress a response to a request that has passed a proxy. */
function sendAsNginx({ request }: Received, response: ServerResponse): void {
  const { via, 'accept-encoding': accepted = '' } = request.headers;
  if (via !== undefined || !accepted.includes('gzip')) response.end(TEXT);
  else response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(TEXT));
}

async function use({ url, token }: Target) {
  const program = await findProgram('curl');
  return withFolder(async (folder) => {
    await writeFile(path.join(folder, 'file'), Buffer.alloc(UPLOAD_BYTES, 'a'));
    /** The status, and behind it what `written` says of the response, or its body. */
    const call = async (args: string, sub: string, written = '') => {
      const format = ['--silent', '--output', 'received', '--write-out', `%{http_code}${written}`];
      const withUrl = [...format, ...args.split(' ').filter(Boolean), url + sub];
      return (await runProgram(program, withUrl, folder)).output;
    };
    const bearer = `--oauth2-bearer ${token}`;
    const answer = async (args: string, sub: string, separator = ', ') => {
      const status = await call(`${bearer} ${args}`, sub);
      const body = await readFile(path.join(folder, 'received'), 'utf8').catch(() => '');
      return status.startsWith('2') ? status + separator + body : status;
    };
    return {
      '`-u user:token`': await call(`-u user:${token}`, '/'),
      '`--oauth2-bearer`': await call(bearer, '/'),
      '`-T file` (`Expect: 100-continue`)': await answer('-T file', '/upload'),
      '`-T -` (chunked)': await answer('-T file -H Transfer-Encoding:chunked', '/upload'),
      '`-F` (form)': await answer('-F file=@file', '/form'),
      '`-r 0-99`': await call(`${bearer} -r 0-99`, '/range', ', %{size_download} bytes'),
      '`--compressed`, from nginx': await call(
        `${bearer} --compressed`,
        '/text',
        ', %header{content-encoding}',
      ).then((seen) => seen.replace('gzip', 'compressed').replace(/, $/, ', not compressed')),
      '`--http2` (upgrade to h2c)': await call(`${bearer} --http2`, '/'),
      '`--http1.0`': await call(`${bearer} --http1.0`, '/'),
      '`-X PROPFIND`': await answer('-X PROPFIND', '/', ' '),
      '`-X QUERY`': await answer('-X QUERY', '/', ' '),
      'path `/Fl%F6te`': await answer('', '/Fl%F6te', ' '),
      '`--retry 1`, 503 first': (await answer('--retry 1', '/busy')) + ' requests',
      '`-L`, redirect to a path': await call(`${bearer} -L`, '/from'),
      '`-b`, cookie with `Path`': await call(`${bearer} -c jar`, '/app/set').then(() =>
        answer('-b jar', '/app/get'),
      ),
    };
  });
}
