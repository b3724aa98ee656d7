import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startGitServer } from '../harness/git-server.ts';
import { type Pair, type StartedServer, type Target } from '../harness/pair.ts';
import { findProgram, runProgram, withFolder, type Program } from '../harness/program.ts';

const MIB = 1024 * 1024;
const LIMIT_BYTES = 8 * MIB;

/** git, and its own CGI program as the server. */
export const git: Pair = {
  client: 'git',
  version: 'of the system',
  start,
  direct: {
    'clone, token as a password': 'done',
    'clone, header `Authorization: Bearer`': 'done',
    'clone, `--depth 1`': 'done',
    'push of 5 MB': 'done',
    fetch: 'done',
    'push above `max_body_bytes`': 'done',
  },
  otherwise: {
    'push above `max_body_bytes`': '413',
  },
};

const findGit = () =>
  findProgram('git', (folder) => ({
    GIT_EXEC_PATH: path.join(folder, 'usr/lib/git-core'),
    GIT_TEMPLATE_DIR: path.join(folder, 'usr/share/git-core/templates'),
  }));

/** Runs git without the settings of this user. @returns `done`, the status that it got, or what it printed */
async function run(program: Program, cwd: string, args: readonly string[]): Promise<string> {
  const env = {
    ...program.env,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_AUTHOR_NAME: 'test',
    GIT_AUTHOR_EMAIL: 'test@example.com',
    GIT_COMMITTER_NAME: 'test',
    GIT_COMMITTER_EMAIL: 'test@example.com',
  };
  const { code, output } = await runProgram({ ...program, env }, args, cwd);
  if (code === 0) return 'done';
  if (/Authentication failed/.test(output)) return '401';
  const status = /HTTP (\d{3})|returned error: (\d{3})/.exec(output)?.slice(1).join('');
  return status ?? (/hung up unexpectedly/.test(output) ? 'connection closed' : output);
}

async function start(): Promise<StartedServer> {
  const program = await findGit();
  const folder = await mkdtemp(path.join(tmpdir(), 'gateway-git-'));
  const bare = path.join(folder, 'repository.git');
  await run(program, folder, ['init', '--quiet', '--bare', '--initial-branch=main', bare]);
  await run(program, bare, ['config', 'http.receivepack', 'true']);
  await withFolder(async (work) => {
    await run(program, work, ['clone', '--quiet', bare, '.']);
    await commit(program, work, MIB);
    await commit(program, work, MIB);
    await run(program, work, ['push', '--quiet', 'origin', 'HEAD:main']);
  });
  const server = await startGitServer(program, folder);
  return {
    urls: [server.url],
    route: { max_body_bytes: LIMIT_BYTES },
    use: (target) => withFolder((work) => use(program, work, target)),
    async close() {
      await server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Commits a file that does not compress. */
async function commit(program: Program, work: string, bytes: number): Promise<void> {
  await writeFile(path.join(work, 'data.bin'), randomBytes(bytes));
  await run(program, work, ['add', '.']);
  await run(program, work, ['commit', '--quiet', '--message', `${bytes} bytes`]);
}

async function use(program: Program, folder: string, { url, token }: Target) {
  const remote = `${url}/repository.git`;
  const withPassword = remote.replace('://', `://git:${token}@`);
  const bearer = ['-c', `http.extraHeader=Authorization: Bearer ${token}`];
  const clone = (...args: string[]) => run(program, folder, [...bearer, 'clone', '-q', ...args]);
  const work = path.join(folder, 'clone');
  const other = path.join(folder, 'other');
  const push = async (bytes: number) => {
    await commit(program, work, bytes);
    return run(program, work, [...bearer, 'push', '--quiet']);
  };
  return {
    'clone, token as a password': await run(program, folder, ['clone', '-q', withPassword, 'pw']),
    'clone, header `Authorization: Bearer`': await clone(remote, work),
    'clone, `--depth 1`': await clone('--depth', '1', remote, other),
    'push of 5 MB': await push(5 * MIB),
    fetch: await run(program, other, [...bearer, 'fetch', '--quiet']),
    'push above `max_body_bytes`': await push(LIMIT_BYTES + 4 * MIB),
  };
}
