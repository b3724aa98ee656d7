import { copyFile, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { rolldown } from 'rolldown';
import { z } from 'zod';
import { runOrThrow } from '../process/run-command.ts';
import { buildOnce } from './build-once.ts';
import { root } from './built-planes.ts';
import { bundledLicences } from './bundled-licences.ts';
import { inputDigest } from './input-digest.ts';
import { startSooner } from './start-sooner.ts';

export type NpmPackageName = 'gwctl' | '@gateway/client';
export const NPM_PACKAGES: readonly NpmPackageName[] = ['gwctl', '@gateway/client'];

interface NpmPackage {
  readonly folder: string;
  /** The module that is bundled with all that it imports. */
  readonly entry: string;
  /** What the package has beside the bundle, relative to its folder. */
  readonly files: readonly string[];
  /** Whether it is imported, so that it needs types. */
  readonly types: boolean;
}

const PACKAGES: Readonly<Record<NpmPackageName, NpmPackage>> = {
  gwctl: { folder: 'packages/cli', entry: 'gwctl', files: ['bin', 'README.md'], types: false },
  '@gateway/client': {
    folder: 'packages/client',
    entry: 'client',
    files: ['openapi.json', 'README.md'],
    types: true,
  },
};
const INPUTS = [
  'pnpm-lock.yaml',
  'packages/{cli,client}/{package.json,build/*,src/**/*.ts}',
  'packages/client/openapi.json',
  // What gwctl has of other packages.
  'packages/shared/src/{definitions,links}/**/*.ts',
  'packages/control-plane/src/configuration/*.ts',
  'tools/build/*.ts',
];
const COMMAND_MS = 120_000;

/** What a package keeps of its manifest; `publishConfig.exports` takes the place of the exports of the sources. */
const manifest = z.object({
  name: z.string(),
  version: z.string(),
  description: z.string(),
  license: z.string(),
  type: z.string(),
  engines: z.record(z.string(), z.string()),
  bin: z.record(z.string(), z.string()).optional(),
  publishConfig: z.object({ exports: z.unknown() }).optional(),
});

/** Modules that every command of gwctl runs are one file: to find a file takes as long as to compile a small one. */
const EVERY_COMMAND =
  /node_modules\/commander\/|packages\/cli\/src\/(session\.ts|program\.ts|(lookup|output|program|similar)\/)/;

/** Writes `dist` of a package, unless it was built from the same sources before. */
export function bundleNpmPackage(name: NpmPackageName): Promise<void> {
  const { folder } = PACKAGES[name];
  return buildOnce({
    folder: path.join(root, folder, 'dist'),
    digest: inputDigest(root, INPUTS),
    build: (draft) => bundle(PACKAGES[name], draft),
  });
}

async function bundle({ folder, entry, types }: NpmPackage, draft: string): Promise<void> {
  const built = await rolldown({
    input: path.join(root, folder, `src/${entry}.ts`),
    platform: types ? 'neutral' : 'node',
    transform: { target: 'node20' },
    plugins: types ? [] : [startSooner()],
  });
  // What gwctl imports only when a command needs it is a file of its own, so that it starts soon.
  const { output } = await built.write({
    dir: draft,
    format: 'esm',
    entryFileNames: '[name].mjs',
    chunkFileNames: 'parts/[name].mjs',
    codeSplitting: { groups: [{ name: 'base', test: EVERY_COMMAND }] },
  });
  await built.close();
  const modules = output.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []));
  await copyFile(path.join(root, 'LICENSE'), path.join(draft, 'LICENSE'));
  await writeFile(path.join(draft, 'THIRD-PARTY-LICENSES'), bundledLicences(modules));
  if (!types) return;
  const writeTypes = path.join(root, folder, 'build/write-types.ts');
  await runOrThrow(process.execPath, [writeTypes], { timeoutMs: COMMAND_MS });
  const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
  const project = path.join(root, folder, 'build');
  await runOrThrow(process.execPath, [tsc, '--project', project, '--outDir', draft], {
    timeoutMs: COMMAND_MS,
  });
}

/**
 * Writes the npm package into a folder: one bundle with all that it imports, so that it has no dependencies and runs on an older
 * Node than the sources.
 *
 * @returns the name of the file
 * @throws Error with the output of a command that failed
 */
export async function packNpmPackage(name: NpmPackageName, output: string): Promise<string> {
  await bundleNpmPackage(name);
  const { folder, files } = PACKAGES[name];
  const from = path.join(root, folder);
  const text = await readFile(path.join(from, 'package.json'), 'utf8');
  const { publishConfig, ...kept } = manifest.parse(JSON.parse(text));
  const draft = await mkdtemp(path.join(tmpdir(), 'npm-package-'));
  try {
    for (const file of ['dist', ...files]) {
      const filter = (one: string) => path.basename(one) !== 'digest';
      await cp(path.join(from, file), path.join(draft, file), { recursive: true, filter });
    }
    const own = { ...kept, ...publishConfig };
    await writeFile(path.join(draft, 'package.json'), `${JSON.stringify(own, undefined, 2)}\n`);
    await mkdir(output, { recursive: true });
    const args = ['pack', '--silent', '--pack-destination', output];
    return (await runOrThrow('npm', args, { cwd: draft, timeoutMs: COMMAND_MS })).trim();
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}
