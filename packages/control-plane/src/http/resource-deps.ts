import type { Clock } from '@gateway/shared/clock';
import type { createIdFactory } from '@gateway/shared/ids';
import type { Database } from '../store/database.ts';

/** The dependencies of the endpoints of a resource. */
export interface ResourceDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly newId: ReturnType<typeof createIdFactory>;
}
