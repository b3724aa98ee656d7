import { CONTROL_PLANE_NODE_ARGS, DATA_PLANE_NODE_ARGS } from '@gateway/local-stack/stack/planes';

/** The account that images run as. It owns no file of an image but the data folder. */
export const IMAGE_UID = 65_532;
export const NODE = '/usr/local/bin/node';
/** Where the product is in an image, in the folders of the repository. */
export const APP = '/app';
const ENTRY = `${APP}/main.mjs`;
/** The only folder of an image that a plane writes to. */
export const DATA_FOLDER = '/var/lib/gateway';
/** Size of the files of an image, which is larger than what a registry stores, bytes. */
export const MAX_IMAGE_BYTES = 200_000_000;

export interface ImageKind {
  /** The files and folders of the repository that are in the image, at the same places below /app. */
  readonly files: readonly string[];
  readonly main: string;
  readonly nodeArgs: readonly string[];
  /** The folders of the packages whose dependencies are in the bundles; their licences are in the image. */
  readonly licensed: readonly string[];
  /** The line with which the program ends if it has no settings or arguments; it has loaded all its modules then. */
  readonly withoutSettings: RegExp;
}

const plane = (name: 'control-plane' | 'data-plane') => ({
  main: `packages/${name}/dist/main.mjs`,
  licensed: [`packages/${name}`],
  withoutSettings: /cannot start: GATEWAY_MASTER_KEYS is not set/,
});
/** What a bundle reads beside itself: its version. */
const ofPlane = (name: 'control-plane' | 'data-plane') => [
  `packages/${name}/dist`,
  'packages/shared/package.json',
];

export const IMAGES = {
  'control-plane': {
    ...plane('control-plane'),
    licensed: ['packages/control-plane', 'packages/console', 'packages/docs-site'],
    files: [...ofPlane('control-plane'), 'packages/console/dist', 'packages/docs-site/dist'],
    nodeArgs: CONTROL_PLANE_NODE_ARGS,
  },
  'data-plane': {
    ...plane('data-plane'),
    files: ofPlane('data-plane'),
    nodeArgs: DATA_PLANE_NODE_ARGS,
  },
  gwctl: {
    // The build of its bundle writes the licences beside it.
    files: ['packages/cli/dist'],
    main: 'packages/cli/dist/gwctl.mjs',
    licensed: ['packages/cli'],
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
