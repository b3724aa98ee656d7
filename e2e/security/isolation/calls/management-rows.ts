import { freshResources, type World } from '../fresh-resources.ts';
import { environmentRows } from './environments.ts';
import { historyRows } from './history.ts';
import { routeRows } from './routes.ts';
import { serviceRows } from './services.ts';
import { tokenRows } from './tokens.ts';
import { versionRows } from './versions.ts';
import type { ManagementRows } from './management-row.ts';

/** How to call each endpoint of the management API. */
export function managementRows(world: World): ManagementRows {
  const resources = freshResources(world);
  return {
    ...environmentRows(world, resources),
    ...serviceRows(world, resources),
    ...routeRows(world, resources),
    ...tokenRows(world, resources),
    ...historyRows(world),
    ...versionRows(world, resources),
  };
}
