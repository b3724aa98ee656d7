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

/** Starts a control plane as a process of its own; `env` carries its configuration. */
export function startControlPlane(options: ServiceOptions): Promise<ServiceProcess> {
  return startService(controlPlane, options);
}

/** Starts a data plane as a process of its own; its name is its DATA_PLANE_ID. */
export function startDataPlane(options: ServiceOptions): Promise<ServiceProcess> {
  return startService(dataPlane, {
    ...options,
    // http-proxy calls util._extend, which Node would name in the log at the first WebSocket.
    nodeArgs: ['--disable-warning=DEP0060', ...(options.nodeArgs ?? [])],
    env: { DATA_PLANE_ID: options.name, ...options.env },
  });
}

/** Starts the demo upstream. */
export function startDemoUpstream(options: ServiceOptions): Promise<ServiceProcess> {
  return startService(demoUpstream, options);
}
