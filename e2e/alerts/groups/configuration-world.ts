import type { GatewayWorld } from '../harness/open-world.ts';
import type { Restarts } from '../harness/restart-plane.ts';

/** A gateway that gets a second master key. */
export interface ConfigurationWorld extends GatewayWorld {
  readonly restarts: Restarts;
  readonly newKey: string;
  /** Both keys; the new one is the newest. */
  readonly bothKeys: string;
}
