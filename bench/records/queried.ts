import type { ManagementClient } from '@gateway/local-stack/stack/management-client';
import type pg from 'pg';

/** What queries are measured on, and where their times are printed. */
export interface Queried {
  readonly client: pg.Client;
  readonly api: ManagementClient;
  /** Of the run; when it is aborted, no further query is made. */
  readonly signal: AbortSignal;
  readonly print: (line: string) => void;
}
