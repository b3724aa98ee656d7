import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Answer, CallOptions, TestApi } from './api.ts';

/** What the pages of the console send with every call. */
export const CSRF = { 'x-console-request': '1' };

/** Exchanges a token for a session. */
export function signIn(
  api: TestApi,
  token: unknown = api.adminToken,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return api.call('POST', '/console/session', { token: null, body: { token }, headers });
}

/** The cookie that a response sets, as a browser sends it back. */
export function cookieOf(answer: Answer): string {
  return answer.headers.get('set-cookie')?.split(';')[0] ?? '';
}

/** A call of the console's pages. */
export function consoleCall(
  api: TestApi,
  cookie: string,
  method: string,
  target: string,
  options: CallOptions = {},
): Promise<Answer> {
  return api.call(method, `/console/api${target}`, {
    token: null,
    ...options,
    headers: { cookie, ...CSRF, ...options.headers },
  });
}

/** A folder as the build of the console makes it. */
export async function makeConsoleFolder(): Promise<{
  readonly folder: string;
  remove(): Promise<void>;
}> {
  const folder = await mkdtemp(path.join(tmpdir(), 'gateway-console-'));
  const assets = path.join(folder, 'console', 'assets');
  await mkdir(assets, { recursive: true });
  const page =
    '<meta property="csp-nonce" nonce="__NONCE__" /><script src="/console/assets/a-1.js">';
  await writeFile(path.join(folder, 'console', 'index.html'), page);
  await writeFile(path.join(assets, 'a-1.js'), 'plain');
  await writeFile(path.join(assets, 'a-1.js.gz'), 'gzip');
  await writeFile(path.join(assets, 'a-1.js.br'), 'brotli');
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}
