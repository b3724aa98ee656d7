import {
  startService,
  type ServiceKind,
  type ServiceOptions,
  type ServiceProcess,
} from './service-process.ts';

const controlPlane: ServiceKind = {
  main: new URL('../../../control-plane/src/main.ts', import.meta.url),
  portVariable: 'CONTROL_PLANE_PORT',
  adminPortVariable: 'CONTROL_PLANE_ADMIN_PORT',
  readyPath: '/readyz',
};

const dataPlane: ServiceKind = {
  main: new URL('../../../data-plane/src/main.ts', import.meta.url),
  portVariable: 'GATEWAY_PORT',
  adminPortVariable: 'DATA_PLANE_ADMIN_PORT',
  readyPath: '/readyz',
};

const demoUpstream: ServiceKind = {
  main: new URL('../demo-upstream/main.ts', import.meta.url),
  portVariable: 'DEMO_UPSTREAM_PORT',
  readyPath: '/healthz',
};

/** With the young generation that V8 takes, resident memory swings by 100 MB under changes and records. */
export const CONTROL_PLANE_NODE_ARGS = ['--max-semi-space-size=8'];

/** Starts a control plane as a process of its own; `env` carries its configuration. */
export function startControlPlane(options: ServiceOptions): Promise<ServiceProcess> {
  return startService(controlPlane, {
    ...options,
    nodeArgs: [...CONTROL_PLANE_NODE_ARGS, ...(options.nodeArgs ?? [])],
  });
}

/**
 * How a data plane's Node is started. Its young generation is collected by one thread: a data plane has a
 * core for itself, where others that are woken for half a millisecond of work cost more than they
 * do (docs/understand/benchmarks.md). Garbage is collected once, when the first configuration was read. http-proxy calls util._extend,
 * which Node would name in the log at the first WebSocket.
 */
export const DATA_PLANE_NODE_ARGS = [
  '--max-semi-space-size=16',
  '--no-parallel-scavenge',
  '--expose-gc',
  '--disable-warning=DEP0060',
];

/** Starts a data plane as a process of its own; its name is its DATA_PLANE_ID. */
export function startDataPlane(options: ServiceOptions): Promise<ServiceProcess> {
  return startService(dataPlane, {
    ...options,
    nodeArgs: [...DATA_PLANE_NODE_ARGS, ...(options.nodeArgs ?? [])],
    env: { DATA_PLANE_ID: options.name, ...options.env },
  });
}

/** Starts the demo upstream. */
export function startDemoUpstream(options: ServiceOptions): Promise<ServiceProcess> {
  return startService(demoUpstream, options);
}
