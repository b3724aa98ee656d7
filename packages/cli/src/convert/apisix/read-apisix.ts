import type { Conversion } from '../draft.ts';
import { WrongType, type SourceNode } from '../source-node.ts';
import type { ApisixFile } from './apisix-file.ts';
import { readRoute } from './routes.ts';
import { ApisixServices } from './upstreams.ts';

/** Makes services and routes of the apisix.yaml of APISIX in its standalone mode. */
export function readApisix(
  conversion: Conversion,
  root: SourceNode,
  defaultHosts: readonly string[],
): void {
  // Its router may look at the path first.
  conversion.hostComesFirst = false;
  const file: ApisixFile = {
    conversion,
    defaultHosts,
    services: byId(root, 'services'),
    pluginConfigs: byId(root, 'plugin_configs'),
    upstreams: new ApisixServices(conversion, byId(root, 'upstreams')),
    globalRules: root.get('global_rules')?.items() ?? [],
  };
  for (const node of root.get('routes')?.items() ?? []) {
    const before = conversion.routes.length;
    try {
      readRoute(file, node);
    } catch (error) {
      if (!(error instanceof WrongType)) throw error;
      conversion.leaveOut(before, undefined, node.place, `${error.place}: ${error.message}`);
    }
  }
  file.upstreams.reportRest();
  for (const { name, place, value } of root.unread()) {
    const count = Array.isArray(value) ? value.length : 1;
    const text = Object.hasOwn(EXPLANATIONS, name) ? EXPLANATIONS[name] : '';
    if (count > 0) conversion.missing(place, `${count} ${name}${text}`);
  }
}

function byId(root: SourceNode, name: string): ReadonlyMap<string, SourceNode> {
  const items = root.get(name)?.items() ?? [];
  return new Map(items.map((node) => [node.text('id') ?? '', node]));
}

const EXPLANATIONS: Readonly<Record<string, string>> = {
  consumers:
    ': secrets are not taken over. Create a token for each caller with gwctl tokens create',
  ssls: ': put the certificates into the folder TLS_CERT_DIR of the data planes',
  stream_routes: ': the gateway forwards HTTP and WebSocket only',
};
