import type { Source } from '../../manifest/read-sources.ts';
import type { Conversion } from '../draft.ts';
import { hostOf } from '../values.ts';
import { readDirectives, type Directive } from './directives.ts';
import { isHarmlessIf, reportUnread } from './known.ts';
import { readLocations, type NginxServer } from './locations.ts';
import { Scope } from './scope.ts';
import { NginxServices } from './services.ts';

/** Makes services and routes of the server blocks of a file: a whole nginx.conf, or one of conf.d. */
export function readNginx(
  conversion: Conversion,
  source: Source,
  defaultHosts: readonly string[],
): void {
  const directives = readDirectives(source);
  const unknown = new Set<Directive>();
  reportAll(conversion, directives, unknown);
  const main = new Scope(directives);
  const blocks = directives.filter(({ name }) => name === 'http');
  const https = blocks.length > 0 ? blocks.map(({ block = [] }) => new Scope(block, main)) : [main];
  const servers = https.flatMap((http) => {
    const services = new NginxServices(conversion, http.own('upstream'));
    return http.own('server').map((directive): NginxServer => {
      const scope = new Scope(directive.block ?? [], http);
      const names = hostsOf(conversion, scope, defaultHosts);
      return { conversion, services, directive, scope, ...names, unknown };
    });
  });
  if (servers.length === 0) {
    conversion.missing(`${source.name}:1:1`, 'the whole file: it has no server block');
  }
  // A route is served with and without TLS; of two server blocks of a host that with TLS is the API, the other often a redirect.
  for (const server of servers.toSorted((one, other) => rank(one) - rank(other)))
    readLocations(server);
  reportTls(conversion, servers);
}

const isTls = ({ scope }: NginxServer): boolean =>
  scope.own('listen').some(({ args }) => args.includes('ssl') || /(^|:)443$/.test(args[0] ?? ''));

const rank = (server: NginxServer): number => (isTls(server) ? 0 : 1);

function reportTls(conversion: Conversion, servers: readonly NginxServer[]): void {
  for (const { scope } of servers) {
    const certificate = scope.setting('ssl_certificate');
    if (certificate === undefined) continue;
    conversion.repeated(
      'missing',
      certificate.place,
      'ssl_certificate: put the certificate and its key into the folder TLS_CERT_DIR of the data planes',
    );
  }
}

/** Reports every directive that nothing here reads, at whatever depth, and collects those that may guard. */
function reportAll(
  conversion: Conversion,
  directives: readonly Directive[],
  unknown: Set<Directive>,
): void {
  for (const directive of directives) {
    const { name, block, place } = directive;
    if (/^(stream|mail)$/.test(name) && block !== undefined) {
      conversion.missing(place, `${name}: the gateway forwards HTTP and WebSocket only`);
      continue;
    }
    if (name === 'if' && isHarmlessIf(directive)) {
      conversion.repeated('missing', place, 'if: there are no conditions; see cors for preflights');
    } else if (reportUnread(conversion, directive) === 'may guard') unknown.add(directive);
    if (block !== undefined && /^(http|server|location)$/.test(name)) {
      reportAll(conversion, block, unknown);
    }
  }
}

/**
 * The hosts of a server block; none: it answers for all that no other one names; undefined: it has names, but none that
 * `match` can have. `isPart`: it has others too.
 */
function hostsOf(
  conversion: Conversion,
  scope: Scope,
  defaultHosts: readonly string[],
): { readonly hosts: readonly string[] | undefined; readonly isPart: boolean } {
  const names = scope
    .own('server_name')
    .flatMap(({ args, place }) => args.map((text) => ({ text, place })));
  const hosts = new Set<string>();
  let isPart = false;
  for (const { text, place } of names) {
    if (text === '_' || text === '') continue;
    // A leading dot stands for the name and all names below it.
    for (const pattern of text.startsWith('.') ? [text.slice(1), `*${text}`] : [text]) {
      const host = text.startsWith('~') ? undefined : hostOf(pattern);
      if (host !== undefined) hosts.add(host);
      else {
        conversion.missing(place, `server_name ${text}: a host is exact or *.example.com`);
        isPart = true;
      }
    }
  }
  if (names.every(({ text }) => text === '_' || text === ''))
    return { hosts: [...new Set(defaultHosts)], isPart };
  return { hosts: hosts.size === 0 ? undefined : [...hosts], isPart };
}
