import { fileURLToPath } from 'node:url';
import { builtPlane } from '@gateway/tools/build/built-planes';
import {
  startService,
  type ServiceKind,
  type ServiceOptions,
  type ServiceProcess,
} from './service-process.ts';

const controlPlane: ServiceKind = {
  main: () => builtPlane('control-plane'),
  portVariable: 'CONTROL_PLANE_PORT',
  adminPortVariable: 'CONTROL_PLANE_ADMIN_PORT',
  readyPath: '/readyz',
};

const dataPlane: ServiceKind = {
  main: () => builtPlane('data-plane'),
  portVariable: 'GATEWAY_PORT',
  adminPortVariable: 'DATA_PLANE_ADMIN_PORT',
  readyPath: '/readyz',
};

const demoUpstream: ServiceKind = {
  main: () => fileURLToPath(new URL('../demo-upstream/main.ts', import.meta.url)),
  portVariable: 'DEMO_UPSTREAM_PORT',
  readyPath: '/healthz',
};

/** With V8's default young generation, resident memory varies by 100 MB under changes and records. */
export const CONTROL_PLANE_NODE_ARGS = ['--max-semi-space-size=8'];

/** Starts a control plane; `env` has its settings. */
export function startControlPlane(options: ServiceOptions): Promise<ServiceProcess> {
  return startService(controlPlane, {
    ...options,
    nodeArgs: [...CONTROL_PLANE_NODE_ARGS, ...(options.nodeArgs ?? [])],
  });
}

/**
 * The arguments of Node for a data plane; docs/run/processes.md gives the reason for each. One thread collects the young
 * generation: a data plane has a core for itself, and waking other threads for half a millisecond of work costs more than
 * it saves. `--expose-gc` lets it collect garbage once, after its first configuration.
 */
export const DATA_PLANE_NODE_ARGS = [
  '--max-semi-space-size=16',
  '--initial-old-space-size=64',
  '--no-parallel-scavenge',
  '--no-allocation-site-pretenuring',
  '--expose-gc',
];

/** Starts a data plane; its name is its DATA_PLANE_ID. */
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
