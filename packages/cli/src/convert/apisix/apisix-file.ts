import type { Conversion } from '../draft.ts';
import type { SourceNode } from '../source-node.ts';
import type { ApisixServices } from './upstreams.ts';

/** The lists of an apisix.yaml, each by `id`. */
export interface ApisixFile {
  readonly conversion: Conversion;
  readonly defaultHosts: readonly string[];
  readonly services: ReadonlyMap<string, SourceNode>;
  readonly pluginConfigs: ReadonlyMap<string, SourceNode>;
  readonly upstreams: ApisixServices;
  readonly globalRules: readonly SourceNode[];
}
