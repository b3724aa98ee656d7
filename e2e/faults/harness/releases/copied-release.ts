import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runOrThrow } from '@gateway/tools/process/run-command';
import { copyTree } from '../../../harness/copied-tree.ts';

/** A release whose planes are built. */
export interface Release {
  readonly name: string;
  /** The files that Node runs. */
  readonly controlPlane: string;
  readonly dataPlane: string;
  /** Removes it from the disk. */
  remove(): Promise<void>;
}

/** Replaces the text of a source file of a copy; `file` is relative to the root. */
type Edit = (file: string, text: string) => string;

const BUNDLED = ['control-plane', 'data-plane', 'http', 'shared'];
const COPIED = [
  ...BUNDLED.map((name) => `packages/${name}`),
  ...['migrations', 'tools', 'pnpm-lock.yaml'],
];
const LINKED = ['node_modules', 'packages/console'];
const BUILD = 'tools/build/bundle-planes.ts';
const CONFIG = 'packages/control-plane/src/config.ts';
const BUILD_MS = 120_000;
const FORMAT = /^((?:export )?const [A-Z_]+_FORMAT = )(\d+);$/m;

const NEXT_MIGRATION = `
export async function up(db: any) {
  await db.schema.alterTable('services').addColumn('next_release', 'text').execute();
  await db.schema.alterTable('routes').addColumn('next_release', 'text').execute();
}
`;

/**
 * A release that reads the next number of each format and still writes the present one: what comes first when a format is
 * changed (docs/contribute/formats.md).
 */
export function releaseThatReadsNext(): Promise<Release> {
  const before = 'return newest > 1 ? [newest - 1, newest] : [newest];';
  let edited = false;
  return copyRelease(
    'reads the next formats',
    (_file, text) => {
      edited ||= text.includes(before);
      return text.replace(before, 'return [newest, newest + 1];');
    },
    () => {
      if (!edited) throw new Error('the rule for readable formats was not found');
    },
  );
}

/**
 * The release after that: it writes the next number of each format, reads both, has one more migration, and stores compact
 * records by default.
 */
export async function releaseThatWritesNext(): Promise<Release> {
  const raised = new Set<string>();
  const release = await copyRelease(
    'writes the next formats',
    (file, text) => {
      if (file === CONFIG) return text.replace(".default('named')", ".default('compact')");
      return text.replace(FORMAT, (_line, start: string, number: string) => {
        raised.add(file);
        return `${start}${Number(number) + 1};`;
      });
    },
    async (folder) => {
      if (raised.size < 10) throw new Error(`only ${raised.size} formats were found`);
      await writeFile(path.join(folder, 'migrations/9999_next_release.ts'), NEXT_MIGRATION);
      const args = ['migrations/write-index.ts'];
      await runOrThrow(process.execPath, args, { cwd: folder, timeoutMs: BUILD_MS });
    },
  );
  return release;
}

/** @param finish called before the build, when every source file was edited */
async function copyRelease(
  name: string,
  edit: Edit,
  finish: (folder: string) => void | Promise<void>,
): Promise<Release> {
  const folder = await mkdtemp(path.join(tmpdir(), 'gateway-release-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    await copyTree(folder, COPIED, LINKED);
    for (const file of await sourcesOf(folder)) {
      const text = await readFile(path.join(folder, file), 'utf8');
      const edited = edit(file, text);
      if (edited !== text) await writeFile(path.join(folder, file), edited);
    }
    await finish(folder);
    await runOrThrow(process.execPath, [BUILD], { cwd: folder, timeoutMs: BUILD_MS });
    return { ...builtIn(folder), name, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function sourcesOf(folder: string): Promise<readonly string[]> {
  const folders = ['migrations', ...BUNDLED.map((name) => `packages/${name}/src`)];
  const files = folders.map(async (name) => {
    const found = await readdir(path.join(folder, name), { recursive: true });
    // Links to packages lead to their sources again, which would be edited twice.
    const own = found.filter((one) => one.endsWith('.ts') && !one.startsWith('node_modules'));
    return own.map((one) => path.join(name, one));
  });
  return (await Promise.all(files)).flat();
}

/** The planes that were built in this folder. */
export function builtIn(folder: string): Pick<Release, 'controlPlane' | 'dataPlane'> {
  const main = (plane: string) => path.join(folder, 'packages', plane, 'dist', 'main.mjs');
  return { controlPlane: main('control-plane'), dataPlane: main('data-plane') };
}
