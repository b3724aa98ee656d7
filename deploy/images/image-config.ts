import { APP, DATA_FOLDER, IMAGE_UID, imageCommand, NODE, type ImageName } from './image.ts';

/** The version of an image, and the commit that it is made of. */
export interface ImageOrigin {
  readonly version: string;
  readonly revision: string;
}

const NANOSECONDS = 1e9;
const DESCRIPTIONS: Readonly<Record<ImageName, string>> = {
  'control-plane':
    'The control plane of the gateway: management API, publication of configurations, request records',
  'data-plane': 'A data plane of the gateway: serves the traffic of applications',
  gwctl: 'gwctl: the management API of the gateway from a terminal',
};
const PORTS: Readonly<Record<ImageName, readonly number[]>> = {
  'control-plane': [8081, 9081],
  'data-plane': [8080, 9090],
  gwctl: [],
};

/** The environment that an image sets, as its Dockerfile has it. */
export function imageEnvironment(name: ImageName): Readonly<Record<string, string>> {
  return {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    NODE_ENV: 'production',
    GATEWAY_IMAGE: name,
    ...(name === 'data-plane' && { DATA_PLANE_DATA_DIR: DATA_FOLDER }),
    ...(name === 'gwctl' && { HOME: APP }),
  };
}

/**
 * How an image is run: the member `config` of its configuration. A test compares it with the Dockerfiles.
 *
 * @see https://github.com/opencontainers/image-spec/blob/v1.1.1/config.md
 */
export function imageConfig(name: ImageName, { version, revision }: ImageOrigin): object {
  const ports = PORTS[name].map((port) => [`${port}/tcp`, {}] as const);
  const isPlane = name !== 'gwctl';
  return {
    User: `${IMAGE_UID}:${IMAGE_UID}`,
    ...(isPlane && { ExposedPorts: Object.fromEntries(ports) }),
    Env: Object.entries(imageEnvironment(name)).map(([key, value]) => `${key}=${value}`),
    Entrypoint: imageCommand(name),
    ...(name === 'data-plane' && { Volumes: { [DATA_FOLDER]: {} } }),
    WorkingDir: APP,
    Labels: {
      'org.opencontainers.image.title': `gateway/${name}`,
      'org.opencontainers.image.description': DESCRIPTIONS[name],
      'org.opencontainers.image.licenses': 'Apache-2.0',
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.revision': revision,
    },
    ...(isPlane && {
      StopSignal: 'SIGTERM',
      // Docker's own; the specification has none.
      Healthcheck: {
        Test: ['CMD', NODE, `${APP}/healthcheck.mjs`],
        Interval: 10 * NANOSECONDS,
        Timeout: 5 * NANOSECONDS,
        StartPeriod: 60 * NANOSECONDS,
        Retries: 3,
      },
    }),
  };
}
