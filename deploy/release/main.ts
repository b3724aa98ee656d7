// `npm run release -- 0.3.0`: writes the version into every file that names it, turns the unreleased changes of CHANGELOG.md
// into its entry, builds everything, and writes the artefacts to release/<version>. Commits and publishes nothing.
// `npm run release -- artefacts`: writes only the artefacts of the version that package.json names.
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildConsole, buildDocs } from '@gateway/tools/build/build-pages';
import { BUNDLED, builtPlane } from '@gateway/tools/build/built-planes';
import { runOrThrow } from '@gateway/tools/process/run-command';
import { SUMS, writeArtefacts } from './artefacts.ts';
import { releasedChangelog, releaseTimeMs } from './changelog.ts';
import { isLater, presentVersion } from './version.ts';
import { setVersion } from './versioned-files.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const CHANGELOG = path.join(root, 'CHANGELOG.md');
const GIT_MS = 10_000;
const USAGE = 'usage: npm run release -- <version>|artefacts [--output=<folder>]';

function log(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Makes this working copy that version. @throws Error if it has other changes, which would become part of the release */
async function makeVersion(version: string, now: Date): Promise<void> {
  const status = ['status', '--porcelain'];
  const changes = (await runOrThrow('git', status, { cwd: root, timeoutMs: GIT_MS })).trim();
  if (changes !== '') throw new Error(`git status must be clean; commit or remove:\n${changes}`);
  const present = await presentVersion(root);
  if (!isLater(version, present)) {
    throw new Error(`the version must be later than ${present}, such as 1.2.3, not ${version}`);
  }
  const changelog = await readFile(CHANGELOG, 'utf8');
  const released = releasedChangelog(changelog, version, now.toISOString().slice(0, 10));
  await setVersion(root, version);
  await writeFile(CHANGELOG, released);
  log(`version ${present} -> ${version}`);
}

/** @throws Error if the folder holds something else than former artefacts */
async function emptyOutput(output: string): Promise<void> {
  const present = await readdir(output).catch((): string[] => []);
  if (present.length > 0 && !present.includes(SUMS)) {
    throw new Error(`${output} is not empty and has no ${SUMS}; choose another --output`);
  }
  await rm(output, { recursive: true, force: true });
  await mkdir(output, { recursive: true });
}

async function writeAll(version: string, output: string, now: Date): Promise<void> {
  for (const plane of BUNDLED) await builtPlane(plane);
  const problems: string[] = [];
  const log = (line: string) => void problems.push(line);
  await buildConsole({ log });
  await buildDocs({ log });
  if (problems.length > 0) throw new Error(problems.join('\n'));
  await emptyOutput(output);
  const changelog = await readFile(CHANGELOG, 'utf8');
  // The day of the release, so that artefacts that are made again are the same.
  const timeMs = releaseTimeMs(changelog, version) ?? now.getTime();
  const files = await writeArtefacts({ root, output, version, timeMs });
  for (const file of files) log(path.join(path.relative(process.cwd(), output), file));
}

try {
  const { values, positionals } = parseArgs({
    options: { output: { type: 'string' } },
    allowPositionals: true,
  });
  const [what, ...more] = positionals;
  if (what === undefined || more.length > 0) throw new Error(USAGE);
  const now = new Date();
  if (what !== 'artefacts') await makeVersion(what, now);
  const version = await presentVersion(root);
  await writeAll(version, path.resolve(values.output ?? path.join('release', version)), now);
  if (what !== 'artefacts') {
    log('\nNow look at the changes, and then:');
    log('  npm test && npm run check');
    log(`  git commit -am "Release ${version}" && git tag -a v${version} -m "Release ${version}"`);
  }
} catch (error) {
  process.stderr.write(`release: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
