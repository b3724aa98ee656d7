import type { Clock } from '@gateway/shared/clock';
import type { createIdFactory } from '@gateway/shared/ids';
import type { Database } from '../store/database.ts';

/** What the endpoints of a resource work with. */
export interface ResourceParts {
  readonly db: Database;
  readonly clock: Clock;
  readonly newId: ReturnType<typeof createIdFactory>;
}
