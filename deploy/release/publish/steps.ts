import { readdirSync } from 'node:fs';
import path from 'node:path';
import type { Layout, ReleaseFolder } from './layouts.ts';

/** A command that publishes a part of a release. */
export interface Step {
  readonly what: string;
  readonly command: string;
  readonly args: readonly string[];
}

export interface Target {
  /** Where images, chart and manifests go, such as `registry.example.com/gateway`. */
  readonly registry: string;
  /** A file with the entry of the changelog. */
  readonly notes: string;
  /** Options for `skopeo copy`, such as `--dest-tls-verify=false`. */
  readonly skopeoOptions?: readonly string[];
}

/**
 * The commands that publish a release, in their order: what can be repeated first, what cannot be taken back last. Each repeats
 * without harm but those of npm, which refuses a version that it has.
 */
export function publishSteps(
  release: ReleaseFolder,
  layouts: readonly Layout[],
  target: Target,
): readonly Step[] {
  const { folder, version } = release;
  const files = readdirSync(folder).toSorted();
  const npm = files.filter(
    (file) => file === `gwctl-${version}.tgz` || file === `gateway-client-${version}.tgz`,
  );
  return [
    ...layouts.map((layout) => copyStep(layout, version, target)),
    {
      what: 'the release with its files',
      command: 'gh',
      args: [
        ...['release', 'create', `v${version}`, '--verify-tag', '--title', version],
        ...['--notes-file', target.notes, ...files.map((file) => path.join(folder, file))],
      ],
    },
    ...npm.map((file) => ({
      what: `the npm package ${file}`,
      command: 'npm',
      args: ['publish', '--access', 'public', path.join(folder, file)],
    })),
  ];
}

function copyStep({ name, folder, digest }: Layout, version: string, target: Target): Step {
  const { registry, skopeoOptions = [] } = target;
  const options = ['--all', '--preserve-digests', ...skopeoOptions];
  return {
    what: `${name} as ${registry}/${name}:${version}, ${digest}`,
    command: 'skopeo',
    args: [
      'copy',
      ...options,
      `oci:${folder}:${version}`,
      `docker://${registry}/${name}:${version}`,
    ],
  };
}

/** A command as a shell takes it. */
export function shellLine({ command, args }: Step): string {
  const quote = (text: string) =>
    /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
  return [command, ...args].map(quote).join(' ');
}
