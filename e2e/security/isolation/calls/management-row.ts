import type { Scope } from '@gateway/shared/tokens/scopes';
import type { ManagementCall } from '../fresh-resources.ts';

/** How to call an endpoint, and what it must answer. */
export interface ManagementRow {
  /** The scopes of the caller with exactly the required rights. */
  readonly scopes: readonly Scope[];
  /** Undefined: `production`. */
  readonly environments?: 'all';
  readonly status: number;
  /** Of a list: the resource that it must contain, or must not. */
  readonly lists?: string;
  /** `all`: the endpoint requires all routes. */
  readonly routes?: 'all';
  /** No other call may be in flight, because it changes more than its own resources. */
  readonly alone?: true;
  /** The actions of a change in the audit events, in alphabetical order. */
  readonly action?: string | readonly string[];
  readonly call: () => Promise<ManagementCall> | ManagementCall;
}

/** By the method and path of the endpoint in the OpenAPI document. */
export type ManagementRows = Readonly<Record<string, ManagementRow>>;
