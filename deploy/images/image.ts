import { CONTROL_PLANE_NODE_ARGS, DATA_PLANE_NODE_ARGS } from '@gateway/local-stack/stack/planes';

/** The account that images run as. It owns no file of an image but the data folder. */
export const IMAGE_UID = 65_532;
export const NODE = '/usr/local/bin/node';
/** Where the product is in an image, in the folders of the repository. */
export const APP = '/app';
const ENTRY = `${APP}/main.mjs`;
export const COMPILE_CACHE = `${APP}/compile-cache`;
/** The only folder of an image that a plane writes to. */
export const DATA_FOLDER = '/var/lib/gateway';
/** Size of the files of an image, which is larger than what a registry stores, bytes. */
export const MAX_IMAGE_BYTES = 200_000_000;

export interface ImageKind {
  /** Folders of the repository that are in the image, with the packages that they depend on. */
  readonly packages: readonly string[];
  /** Folders that a build leaves and no import names. */
  readonly built: readonly string[];
  /** The file that runs: the first one that exists. */
  readonly mains: readonly string[];
  readonly nodeArgs: readonly string[];
  /** The line with which the program ends if it has no settings or arguments; it has loaded all its modules then. */
  readonly withoutSettings: RegExp;
}

const plane = (name: 'control-plane' | 'data-plane') => ({
  mains: [`packages/${name}/dist/main.mjs`, `packages/${name}/src/main.ts`],
  withoutSettings: /cannot start: GATEWAY_MASTER_KEYS is not set/,
});

export const IMAGES = {
  'control-plane': {
    ...plane('control-plane'),
    packages: ['packages/control-plane'],
    built: ['packages/console/dist'],
    nodeArgs: CONTROL_PLANE_NODE_ARGS,
  },
  'data-plane': {
    ...plane('data-plane'),
    packages: ['packages/data-plane'],
    built: [],
    nodeArgs: DATA_PLANE_NODE_ARGS,
  },
  gwctl: {
    packages: [],
    built: ['packages/cli/dist'],
    mains: ['packages/cli/dist/gwctl.mjs'],
    nodeArgs: [],
    withoutSettings: /Usage: gwctl/,
  },
} as const satisfies Record<string, ImageKind>;

export type ImageName = keyof typeof IMAGES;

export function isImageName(text: string | undefined): text is ImageName {
  return text !== undefined && Object.hasOwn(IMAGES, text);
}

/** The command of an image, as its Dockerfile has it. */
export function imageCommand(name: ImageName): readonly string[] {
  return [NODE, ...IMAGES[name].nodeArgs, ENTRY];
}
