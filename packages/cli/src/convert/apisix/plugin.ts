import type { SourceNode } from '../source-node.ts';

/** A plugin of APISIX as it is in force for a route. */
export interface ApisixPlugin {
  readonly name: string;
  readonly node: SourceNode;
}
