import { createHash, randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { startApache } from '../harness/apache.ts';
import { startInFolder } from '../harness/in-folder.ts';
import type { Observations, Pair, StartedServer, Target } from '../harness/pair.ts';
import { findProgram, runProgram, withFolder } from '../harness/program.ts';

const REALM = 'files';
const USER = 'user';

const direct: Observations = {
  '`--digest`': '200, the file',
  '`--digest`, path with escapes and a query': '200, the file',
  '`--digest`, a wrong password': '401',
};

const pair = (reach: 'name' | 'host', otherwise: Observations): Pair => ({
  client: 'curl',
  version: 'of the system',
  variant: `Digest of Apache, by ${reach}`,
  reach,
  start,
  direct,
  otherwise,
});

/** curl signs the path (RFC 7616), and Apache compares the signed one with the one that it gets. */
export const digestPairs: readonly Pair[] = [
  pair('host', {}),
  pair('name', Object.fromEntries(Object.keys(direct).map((what) => [what, '400']))),
];

function start(): Promise<StartedServer> {
  return startInFolder(async (folder) => {
    const password = randomBytes(12).toString('hex');
    const known = createHash('md5').update(`${USER}:${REALM}:${password}`).digest('hex');
    const passwords = path.join(folder, 'passwords');
    await writeFile(passwords, `${USER}:${REALM}:${known}\n`);
    const { url, stop } = await startApache(folder, [
      'AuthType Digest',
      `AuthName ${REALM}`,
      `AuthUserFile ${passwords}`,
      'Require valid-user',
    ]);
    await writeFile(path.join(folder, 'files', 'a b'), 'the file');
    return {
      urls: [url],
      route: { auth: { type: 'none' }, rewrite: { host: 'preserve' }, locations: 'off' },
      use: (target) => use(target, password),
      close: stop,
    };
  });
}

async function use({ url }: Target, password: string) {
  const program = await findProgram('curl');
  return withFolder(async (folder) => {
    const call = async (as: string, sub: string) => {
      const args = ['--silent', '--digest', '--user', `${USER}:${as}`, '--path-as-is'];
      const format = ['--write-out', '\n%{http_code}'];
      const { output } = await runProgram(program, [...args, ...format, `${url}${sub}`], folder);
      const [body = '', status = ''] = output.split(/\n(?=\d+$)/);
      return status === '200' ? `${status}, ${body}` : status;
    };
    return {
      '`--digest`': await call(password, '/a%20b'),
      '`--digest`, path with escapes and a query': await call(password, '/%61%20b?x=%7E&y'),
      '`--digest`, a wrong password': await call('wrong', '/a%20b'),
    };
  });
}
