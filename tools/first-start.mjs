// `npm run first-start -- <commit> [rounds]`: the first `npm start` of a fresh clone, of that commit and of this one in turns
// (ABBA): seconds until the banner, packages and bytes of node_modules. Each has its own home, so that all caches are empty: of
// npm, the store of pnpm, nats-server. It needs the network, and says most on a machine that does nothing else.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const BANNER = 'Ctrl-C stops everything.';
const PORTS = 'GATEWAY_PORT CONTROL_PLANE_PORT DATA_PLANE_ADMIN_PORT CONTROL_PLANE_ADMIN_PORT';

/** Ports that are free now. All are taken before one is released, so that none is found twice. */
async function freePorts(count) {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => String(server.address().port));
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}

/** The environment of a user who has Node, npm and nothing else of ours. */
async function environment(home) {
  const foreign = /^(npm_|XDG_|GATEWAY_|NODE_COMPILE_CACHE$|INIT_CWD$)/i;
  const kept = Object.entries(process.env).filter(([name]) => !foreign.test(name));
  const folders = process.env.PATH.split(path.delimiter).filter(
    (one) => !one.includes('node_modules'),
  );
  const names = PORTS.split(' ');
  const free = await freePorts(names.length);
  const ports = Object.fromEntries(names.map((name, index) => [name, free[index]]));
  return { ...Object.fromEntries(kept), ...ports, HOME: home, PATH: folders.join(path.delimiter) };
}

/** Bytes on the disk of the files of a folder; one with several links counts once. */
function diskBytes(folder, seen = new Set()) {
  return readdirSync(folder, { withFileTypes: true }).reduce((bytes, entry) => {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) return bytes + diskBytes(file, seen);
    const { ino, blocks } = lstatSync(file);
    if (seen.has(ino)) return bytes;
    seen.add(ino);
    return bytes + blocks * 512;
  }, 0);
}

async function firstStart(commit) {
  const folder = mkdtempSync(path.join(tmpdir(), 'first-start-'));
  try {
    // Postgres runs as another user if this one is root.
    execFileSync('chmod', ['755', folder]);
    const clone = path.join(folder, 'clone');
    execFileSync('git', ['clone', '--quiet', '--no-hardlinks', root, clone]);
    execFileSync('git', ['-C', clone, 'checkout', '--quiet', commit]);
    const env = await environment(path.join(folder, 'home'));
    const began = performance.now();
    const child = spawn('npm', ['start'], { cwd: clone, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = new Promise((resolve) => child.once('close', resolve));
    let output = '';
    /** @type {number | undefined} */
    let seconds;
    const read = (chunk) => {
      output += chunk;
      if (seconds !== undefined || !output.includes(BANNER)) return;
      seconds = (performance.now() - began) / 1000;
      child.kill('SIGINT');
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    await ended;
    if (!output.includes(BANNER)) throw new Error(`npm start of ${commit} failed:\n${output}`);
    const modules = path.join(clone, 'node_modules');
    const packages = readdirSync(path.join(modules, '.pnpm')).length;
    return { seconds, packages, megabytes: diskBytes(modules) / 1e6 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)];

const [before = '', rounds = '3'] = process.argv.slice(2);
if (before === '') throw new Error('usage: npm run first-start -- <commit> [rounds]');
const hash = (name) =>
  execFileSync('git', ['-C', root, 'rev-parse', '--short', name]).toString().trim();
const commits = [hash(before), hash('HEAD')];
const found = new Map(commits.map((commit) => [commit, []]));
for (let round = 0; round < Number(rounds); round += 1) {
  for (const commit of round % 2 === 0 ? commits : commits.toReversed()) {
    const result = await firstStart(commit);
    found.get(commit).push(result);
    const { seconds, packages, megabytes } = result;
    console.log(
      `${commit}: ${seconds.toFixed(1)} s, ${packages} packages, ${megabytes.toFixed(0)} MB`,
    );
  }
}
const of = (commit, name) => median(found.get(commit).map((one) => one[name]));
for (const name of ['seconds', 'packages', 'megabytes']) {
  const [a, b] = commits.map((commit) => of(commit, name));
  console.log(`${name}: ${a.toFixed(1)} -> ${b.toFixed(1)}, ratio ${(b / a).toFixed(2)}`);
}
