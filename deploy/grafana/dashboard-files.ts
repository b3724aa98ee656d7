import { canary } from './canary/canary.ts';
import { configuration } from './configuration/configuration.ts';
import type { Dashboard } from './parts/classic.ts';
import { processes } from './processes/processes.ts';
import { recordsAndNats } from './records/records-and-nats.ts';
import { route } from './route/route.ts';
import { runbooks } from './runbooks/runbooks.ts';
import { traffic } from './traffic/traffic.ts';
import { upstreams } from './upstreams/upstreams.ts';

/** Where the files are. */
export const FOLDER = new URL('dashboards/', import.meta.url);

/** The text of each file of deploy/grafana/dashboards, by its name. */
export function dashboardFiles(): ReadonlyMap<string, string> {
  const all = [
    traffic(),
    route(),
    canary(),
    upstreams(),
    configuration(),
    recordsAndNats(),
    processes(),
    runbooks(),
  ];
  return new Map(all.map((one) => [fileName(one), `${JSON.stringify(one, null, 2)}\n`]));
}

function fileName({ uid = '' }: Dashboard): string {
  return `${uid}.json`;
}
