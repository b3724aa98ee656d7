import { probePort } from '@gateway/shared/ports/probe-port';
import { errorMessage, StartError } from '@gateway/tools/process/errors';
import type { StackConfig } from './config.ts';

interface WantedPort {
  readonly port: number;
  readonly user: string;
  readonly variable: string;
}

function wantedPorts(config: StackConfig): WantedPort[] {
  const planes = config.dataPlanes.flatMap(({ name, port, adminPort }) => [
    { port, user: name, variable: 'GATEWAY_PORT' },
    { port: adminPort, user: `${name} (admin)`, variable: 'DATA_PLANE_ADMIN_PORT' },
  ]);
  return [
    ...planes,
    { port: config.controlPlanePort, user: 'control-plane', variable: 'CONTROL_PLANE_PORT' },
    {
      port: config.controlPlaneAdminPort,
      user: 'control-plane (admin)',
      variable: 'CONTROL_PLANE_ADMIN_PORT',
    },
  ];
}

/**
 * Checks that every port is free and used only once, before anything is started.
 *
 * @throws {StartError} that names the port and the variable that sets it
 */
export async function checkPorts(config: StackConfig): Promise<void> {
  const seen = new Map<number, string>();
  for (const { port, user, variable } of wantedPorts(config)) {
    const other = seen.get(port);
    if (other !== undefined) {
      throw new StartError(
        `port ${port} is set for both ${other} and ${user}; set ${variable} to another port`,
      );
    }
    seen.set(port, user);
    try {
      await probePort(port);
    } catch (error) {
      throw new StartError(
        `port ${port} for ${user} cannot be used (${errorMessage(error)}); ` +
          `stop what uses it or set ${variable}`,
        { cause: error },
      );
    }
  }
}
