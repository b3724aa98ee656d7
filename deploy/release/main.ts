// `npm run release -- 0.3.0`: writes the version into every file that names it, turns the unreleased changes of CHANGELOG.md
// into its entry, builds everything, and writes the artefacts to release/<version>. Commits and publishes nothing.
// `npm run release -- artefacts`: writes only the artefacts of the version that package.json names.
// `keygen`, `sign`, `publish` and `chart`: docs/contribute/releases.md.
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { writeChart } from '../helm/write-chart.ts';
import { presentVersion } from '../present-version.ts';
import { makeVersion, writeAll } from './make-release.ts';
import { publish } from './publish/publish.ts';
import { signFile } from './signature/minisign.ts';
import { makeSecretKey, PASSPHRASE, readSecretKey } from './signature/secret-key.ts';
import { releasedVersion, SUMS, verifySums } from './sums.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** The public key of the project; it exists once a maintainer has made one. */
const PUBLIC_KEY = path.join(root, 'deploy/release/release-key.pub');
const USAGE = `usage: npm run release -- <version>|artefacts [--output=<folder>] [--debian=<folder>]
       npm run release -- chart --output=<folder>
       npm run release -- keygen --key=<new file outside of the repository>
       npm run release -- sign --key=<file> [--output=<folder>]
       npm run release -- publish --registry=<registry> [--output=<folder>] [--execute]
keygen and sign read the passphrase of the key from ${PASSPHRASE}.`;

function log(line: string): void {
  process.stdout.write(`${line}\n`);
}

const OPTIONS = {
  output: { type: 'string' },
  debian: { type: 'string' },
  key: { type: 'string' },
  registry: { type: 'string' },
  execute: { type: 'boolean', default: false },
} as const;

function parsed() {
  try {
    return parseArgs({ options: OPTIONS, allowPositionals: true });
  } catch (error) {
    process.stderr.write(`release: ${error instanceof Error ? error.message : ''}\n${USAGE}\n`);
    process.exit(1);
  }
}
const { values, positionals } = parsed();

function required(option: 'key' | 'registry' | 'output'): string {
  const value = values[option];
  if (value === undefined) throw new Error(`--${option} is missing\n${USAGE}`);
  return value;
}

function passphrase(): string {
  const value = process.env[PASSPHRASE];
  if (value === undefined) throw new Error(`${PASSPHRASE} is not set`);
  return value;
}

async function outputFolder(): Promise<string> {
  return path.resolve(values.output ?? path.join('release', await presentVersion(root)));
}

async function writeArtefacts(): Promise<void> {
  const kept = await mkdtemp(path.join(tmpdir(), 'gateway-debian-'));
  try {
    const debian = { folder: path.resolve(values.debian ?? kept), log };
    await writeAll({ root, output: await outputFolder(), debian, now: new Date(), log });
  } finally {
    await rm(kept, { recursive: true, force: true });
  }
}

async function sign(): Promise<void> {
  const folder = await outputFolder();
  await verifySums(folder);
  const secret = await readSecretKey(required('key'), passphrase());
  const comments = {
    untrusted: 'signature of the checksums of a release',
    trusted: `gateway ${await releasedVersion(folder)} ${SUMS}`,
  };
  const file = path.join(folder, SUMS);
  await writeFile(`${file}.minisig`, signFile(await readFile(file), secret, comments));
  log(`${path.relative(process.cwd(), file)}.minisig`);
}

const COMMANDS: Readonly<Record<string, () => Promise<void>>> = {
  artefacts: writeArtefacts,
  sign,
  async chart() {
    log(await writeChart(path.resolve(required('output')), await presentVersion(root)));
  },
  async keygen() {
    if (existsSync(PUBLIC_KEY)) throw new Error(`${PUBLIC_KEY} exists; remove it for a new key`);
    const text = await makeSecretKey(required('key'), passphrase(), root);
    await writeFile(PUBLIC_KEY, text, { flag: 'wx' });
    log(`The public key is in deploy/release/release-key.pub; commit it:\n${text}`);
  },
  async publish() {
    const version = await presentVersion(root);
    await publish({
      folder: await outputFolder(),
      version,
      registry: required('registry'),
      changelog: await readFile(path.join(root, 'CHANGELOG.md'), 'utf8'),
      publicKey: await readFile(PUBLIC_KEY, 'utf8'),
      layouts: path.resolve('release', `layouts-${version}`),
      execute: values.execute,
      log,
    });
  },
};

async function release(version: string): Promise<void> {
  await makeVersion(root, version, new Date(), log);
  await writeArtefacts();
  log('\nNow look at the changes, and then:');
  log('  npm test && npm run check');
  log(`  git commit -am "Release ${version}" && git tag -a v${version} -m "Release ${version}"`);
}

try {
  const [what, ...more] = positionals;
  if (what === undefined || more.length > 0) throw new Error(USAGE);
  await (COMMANDS[what] ?? (() => release(what)))();
} catch (error) {
  process.stderr.write(`release: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
