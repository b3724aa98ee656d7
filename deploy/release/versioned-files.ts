import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** The files that name the version of the product, by what is before it in them; relative to the root. */
export const VERSIONED_FILES: Readonly<Record<string, RegExp>> = {
  'package.json': /(?<=\n {2}"version": ")[^"]+/,
  'bench/package.json': /(?<=\n {2}"version": ")[^"]+/,
  'deploy/package.json': /(?<=\n {2}"version": ")[^"]+/,
  'e2e/package.json': /(?<=\n {2}"version": ")[^"]+/,
  'migrations/package.json': /(?<=\n {2}"version": ")[^"]+/,
  'tools/package.json': /(?<=\n {2}"version": ")[^"]+/,
  'tools/node/package.json': /(?<=\n {2}"version": ")[^"]+/,
  ...Object.fromEntries(
    [
      'cli',
      'client',
      'console',
      'control-plane',
      'data-plane',
      'docs-site',
      'http',
      'local-stack',
      'shared',
      'testing',
    ].map((name) => [`packages/${name}/package.json`, /(?<=\n {2}"version": ")[^"]+/]),
  ),
  'packages/cli/src/session.ts': /(?<=VERSION = ')[^']+/,
  ...Object.fromEntries(
    ['control-plane', 'data-plane', 'gwctl'].map((name) => [
      `deploy/images/${name}.Dockerfile`,
      /(?<=\nARG VERSION=)\S+/,
    ]),
  ),
  'deploy/compose.yaml': /(?<=GATEWAY_VERSION:-)[^}]+/g,
  'deploy/kubernetes/base/kustomization.yaml': /(?<=newTag: )[^ }]+/g,
  'deploy/kubernetes/examples/reencrypt-job.yaml': /(?<=gateway\/control-plane:)\S+/,
  'docs/run/install.md': /(?<=VERSION=|gateway-deploy-)\d+\.\d+\.\d+/g,
  'docs/run/kubernetes.md':
    /(?<=newTag: |tag=|tag: |targetRevision: |version {4}= "|gateway-deploy-|`gateway\/\*:)\d+\.\d+\.\d+/g,
  'docs/use/client.md': /(?<=gateway-client-)\d+\.\d+\.\d+(?=\.tgz)/,
  'docs/use/gwctl.md': /(?<=gwctl-)\d+\.\d+\.\d+(?=\.tgz)/,
};

/**
 * Writes the version into each of these files.
 *
 * @throws Error that names the file if it does not name a version where it should; then no file is changed
 */
export async function setVersion(root: string, version: string): Promise<void> {
  const changed = new Map<string, string>();
  for (const [file, pattern] of Object.entries(VERSIONED_FILES)) {
    const text = await readFile(path.join(root, file), 'utf8');
    if (text.search(pattern) === -1) throw new Error(`${file} names no version`);
    changed.set(file, text.replace(pattern, version));
  }
  for (const [file, text] of changed) await writeFile(path.join(root, file), text);
}
