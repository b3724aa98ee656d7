import path from 'node:path';
import { fillConfig } from '../lab/fill-config.ts';
import type { Lab } from '../lab/lab.ts';
import { startPeer, type PeerKind } from './peer.ts';

/** How the proxies of a workload differ from the plain ones of the rows. */
export interface ServerOptions {
  /** Whether the callers use TLS. */
  readonly secure?: boolean;
  /** Whether the upstream gets HTTP/2, without TLS; Caddy then is no peer. nginx has only `grpc_pass` for that. */
  readonly http2Upstream?: boolean;
  /** Lines of the configuration files. */
  readonly nginx?: {
    readonly location?: string;
    readonly path?: string;
    readonly servers?: number;
  };
  readonly haproxy?: (folder: string) => { readonly frontend?: string; readonly backend?: string };
  /** Value of the Authorization header, for an HAProxy that checks it. */
  readonly authorization?: () => Promise<string>;
  readonly caddy?: { readonly flush?: string };
}

/** A certificate with its key, in the folder of the run. */
export const CERTIFICATE_FILE = 'certificate.pem';

interface Server {
  readonly name: string;
  readonly file: string;
  readonly command: readonly string[];
  /** Values of placeholders that only the files in `config/workloads` have. */
  readonly values: (
    options: ServerOptions,
    folder: string,
    upstreamPort: number,
  ) => Record<string, string>;
}

/** nginx with one worker; in workloads it streams bodies. Every ratio is taken against it. */
export const nginx = server({
  name: 'nginx',
  file: 'nginx.conf',
  command: ['nginx', '-e', 'stderr', '-c'],
  values: ({ secure, http2Upstream, nginx: lines = {} }, _folder, upstreamPort) => ({
    SERVERS: `server 127.0.0.1:${upstreamPort} max_fails=0;`.repeat(lines.servers ?? 1),
    LISTEN: secure === true ? 'ssl http2' : '',
    PASS:
      http2Upstream === true
        ? 'grpc_pass grpc://orders;'
        : `proxy_pass http://orders${lines.path ?? ''};`,
    LOCATION: lines.location ?? '',
  }),
});

/** HAProxy with one thread. */
export const haproxy = server({
  name: 'HAProxy',
  file: 'haproxy.conf',
  command: ['haproxy', '-db', '-f'],
  values({ secure, http2Upstream, haproxy: linesOf }, folder) {
    const pem = path.join(folder, CERTIFICATE_FILE);
    const { frontend = '', backend = '' } = linesOf?.(folder) ?? {};
    const bind = secure === true ? `ssl crt ${pem} alpn h2,http/1.1 ssl-min-ver TLSv1.3` : '';
    const protocol = http2Upstream === true ? 'proto h2' : '';
    return { BIND: bind, FRONTEND: frontend, BACKEND: backend, PROTOCOL: protocol };
  },
});

/** Caddy. Go runs as many threads as the process may use cores, which is one. */
export const caddy = server({
  name: 'Caddy',
  file: 'Caddyfile',
  command: ['caddy', 'run', '--adapter', 'caddyfile', '--config'],
  values({ secure, caddy: lines = {} }, folder) {
    const pem = path.join(folder, CERTIFICATE_FILE);
    const tls = secure === true ? { SCHEME: 'https', TLS: `tls ${pem} ${pem}` } : {};
    return { SCHEME: 'http', TLS: '', FLUSH: lines.flush ?? '0', ...tls };
  },
});

/** Without options it is that of the rows. */
function server({ name, file, command, values }: Server) {
  return (options?: ServerOptions): PeerKind => ({
    name,
    async start(lab: Lab) {
      const { folder, upstreamPort } = lab;
      const kind = options === undefined ? 'rows' : 'workloads';
      const template = new URL(`config/${kind}/${file}`, import.meta.url);
      const authorization = name === 'HAProxy' ? await options?.authorization?.() : undefined;
      const line = async (port: number) => {
        const ports = { PORT: String(port), UPSTREAM_PORT: String(upstreamPort) };
        const further = options === undefined ? {} : values(options, folder, upstreamPort);
        return [...command, await fillConfig(template, folder, { ...ports, ...further })];
      };
      return startPeer(lab, name, line, {
        scheme: options?.secure === true ? 'https' : 'http',
        ...(authorization !== undefined && { authorization }),
      });
    },
  });
}
