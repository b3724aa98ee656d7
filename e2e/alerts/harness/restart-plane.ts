import type { PlaneStart } from '@gateway/testing/processes';
import type { Gateway } from '../../harness/gateway.ts';

type Plane = Gateway['controlPlane'];

/** Starts planes of a gateway again on their ports, where Prometheus scrapes them. */
export interface Restarts {
  controlPlane(start?: PlaneStart): Promise<Plane>;
  stopControlPlane(): Promise<unknown>;
  dataPlane(index: number, start?: PlaneStart): Promise<Plane>;
}

export function restartsOf({ stack, controlPlane, dataPlanes }: Gateway): Restarts {
  let currentControlPlane = controlPlane;
  const currentDataPlanes = [...dataPlanes];
  return {
    async controlPlane(start = {}) {
      await currentControlPlane.stop();
      const again = { ...samePlaces(currentControlPlane), ...start };
      return (currentControlPlane = await stack.startControlPlane(again));
    },
    stopControlPlane: () => currentControlPlane.stop(),
    async dataPlane(index, start = {}) {
      const current = currentDataPlanes[index];
      if (current === undefined) throw new Error(`no data plane ${index}`);
      await current.stop();
      const again = await stack.startDataPlane({ ...samePlaces(current), ...start });
      currentDataPlanes[index] = again;
      return again;
    },
  };
}

function samePlaces({ name, ports: [port, adminPort] }: Plane) {
  return {
    name,
    ...(port !== undefined && { port }),
    ...(adminPort !== undefined && { adminPort }),
  };
}
