import type { KnownDataPlane } from '../data-planes/data-plane.ts';
import {
  chooseDataPlanes,
  unavailable,
  type DataPlaneChoice,
} from '../data-planes/ask-data-planes.ts';

/** How many data planes are asked, so that a large fleet does not connect to an upstream all at once. */
export const MAX_ASKED = 16;

/** Data planes that are asked, and how many others there are. */
export interface ChosenDataPlanes {
  readonly asked: readonly KnownDataPlane[];
  readonly unasked: number;
}

/**
 * The live data planes that serve the environment, of each region in turn; or the named one.
 *
 * @returns undefined if the named one is not known
 * @throws GatewayError `data_plane_unavailable` if none is live and serves the environment, or the named one is not live
 */
export function dataPlanesToTest(choice: DataPlaneChoice): ChosenDataPlanes | undefined {
  const { known, nowMs, environment, named } = choice;
  if (named !== null) {
    const asked = chooseDataPlanes(choice);
    return asked && { asked, unasked: 0 };
  }
  const serving = known.filter(
    ({ heartbeat, liveUntilMs }) =>
      liveUntilMs >= nowMs && Object.hasOwn(heartbeat.config_versions, environment),
  );
  if (serving.length === 0) {
    throw unavailable(`No live data plane serves the environment ${environment}.`);
  }
  const asked = inTurn(serving).slice(0, MAX_ASKED);
  return { asked, unasked: serving.length - asked.length };
}

/** The first of each region, then the second of each, and so on. */
function inTurn(dataPlanes: readonly KnownDataPlane[]): readonly KnownDataPlane[] {
  const seen = new Map<string, number>();
  const turns = dataPlanes.map((one) => {
    const { region } = one.heartbeat;
    const turn = seen.get(region) ?? 0;
    seen.set(region, turn + 1);
    return { one, turn };
  });
  return turns.toSorted((a, b) => a.turn - b.turn).map(({ one }) => one);
}
