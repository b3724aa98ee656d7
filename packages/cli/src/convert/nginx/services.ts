import type { Conversion, Draft } from '../draft.ts';
import { setUpstreams } from '../upstreams-field.ts';
import { isAddress } from '../values.ts';
import type { Directive } from './directives.ts';
import { Scope } from './scope.ts';

/** A service, and what its routes need of it. */
export interface NginxService {
  readonly draft: Draft;
  /** How many addresses a request is tried at. */
  readonly count: number;
  /** What nginx sends as Host by default: the name in proxy_pass. */
  readonly host: string;
  readonly isGroup: boolean;
  /** ip_hash or hash of its upstream block. */
  readonly hash: Directive | undefined;
}

/** Services of the upstream blocks and addresses that proxy_pass names. */
export class NginxServices {
  readonly #conversion: Conversion;
  readonly #groups: ReadonlyMap<string, Directive>;
  readonly #made = new Map<string, NginxService>();

  constructor(conversion: Conversion, groups: readonly Directive[]) {
    this.#conversion = conversion;
    this.#groups = new Map(groups.map((group) => [group.args[0] ?? '', group]));
  }

  /** @param host the host of proxy_pass with its port, or the name of an upstream block */
  named(scheme: string, host: string, place: string): NginxService {
    const key = `${scheme}://${host}`;
    const made = this.#made.get(key);
    if (made !== undefined) return made;
    const service = this.#make(scheme, host, place);
    this.#made.set(key, service);
    return service;
  }

  #make(scheme: string, host: string, place: string): NginxService {
    const group = this.#groups.get(host);
    const draft = this.#conversion.addService(host.replace(/:\d+$/, ''), group?.place ?? place);
    if (scheme === 'https') {
      const text =
        'certificates of upstreams are always verified here; see tls.ca_pem and tls.server_name';
      draft.different(place, text, group === undefined ? 'url' : 'upstreams');
    }
    draft.note(
      draft.place,
      'nginx does not check upstreams: the gateway checks health_path of each, which changes nothing while none of them answers it',
      'health_path',
    );
    if (group !== undefined) {
      const count = readGroup(draft, group, scheme);
      const hash = group.block?.find(({ name }) => /hash$/.test(name));
      return { draft, count, host, isGroup: true, hash };
    }
    if (isAddress(host)) draft.fields.set('url', `${scheme}://${host}`);
    else draft.leftOut = `${host} is no host with a port`;
    return { draft, count: 1, host, isGroup: false, hash: undefined };
  }
}

const DEFAULT_PORT = 80;

/** Sets the upstreams of a service. Returns how many there are. */
function readGroup(draft: Draft, { block = [] }: Directive, scheme: string): number {
  const scope = new Scope(block);
  const servers = scope.own('server').flatMap((directive) => readServer(draft, directive) ?? []);
  if (servers.length === 0) draft.leftOut = 'none of its addresses is a host with a port';
  setUpstreams(
    draft,
    servers.map(({ address, weight }) => ({ url: `${scheme}://${address}`, weight })),
  );
  for (const { name, place } of block) {
    if (/^(server|keepalive.*|zone|least_conn|random|resolver.*)$/.test(name)) continue;
    // Routes have the affinity.
    if (/hash$/.test(name)) continue;
    draft.missing(place, name, 'upstreams');
  }
  return servers.length;
}

interface Server {
  readonly address: string;
  readonly weight: number;
}

function readServer(draft: Draft, { args, place }: Directive): Server | undefined {
  const [given = '', ...parameters] = args;
  const address = /:\d+$/.test(given) ? given : `${given}:${DEFAULT_PORT}`;
  const say = (text: string) => draft.missing(place, `server ${given}: ${text}`, 'upstreams');
  if (!isAddress(address)) {
    say('it is no host with a port');
    return undefined;
  }
  let weight = 1;
  for (const parameter of parameters) {
    const [name = '', value = ''] = parameter.split('=', 2);
    if (name === 'weight' && /^\d+$/.test(value)) weight = Number(value);
    else if (name === 'down') {
      draft.note(place, `server ${given} is down in the source`, 'upstreams');
      return undefined;
    } else if (name === 'backup') {
      say('backup: there are no spare upstreams; see regions and regional failover');
      return undefined;
    } else if (name === 'max_fails' || name === 'fail_timeout') {
      draft.note(
        place,
        `server ${given}: ${name}: after five failed requests in a row an upstream is ejected`,
        'upstreams',
      );
    } else if (name === 'max_conns') say('max_conns: see limits of the service');
    else if (name !== 'resolve') say(name);
  }
  return { address, weight };
}
