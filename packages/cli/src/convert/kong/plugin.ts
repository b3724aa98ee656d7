import type { SourceNode } from '../source-node.ts';

/** A plugin of Kong as it is in force for a route. */
export interface KongPlugin {
  readonly name: string;
  readonly node: SourceNode;
  readonly config: SourceNode | undefined;
}
