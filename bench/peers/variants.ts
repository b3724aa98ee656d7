import { chmod, copyFile, mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Lab } from '../lab/lab.ts';
import { oneRoute } from './gateway-configuration.ts';
import { gateway } from './gateway.ts';
import type { Peer, PeerKind } from './peer.ts';
import { CERTIFICATE_FILE, haproxy, nginx } from './servers.ts';

/** Starts what a row uses instead of the upstream of the run. @returns its port */
type StartUpstream = (lab: Lab) => Promise<number>;

/** How a row differs from another one of the same proxy. */
export interface Variant {
  readonly name: string;
  readonly upstream?: StartUpstream;
  /** Runs before the first turn. @throws if the row does not do what it is measured for */
  readonly check?: (peer: Peer) => Promise<void>;
}

/** The same proxy with another name, a folder of its own, and maybe another upstream. */
export function variant(kind: PeerKind, { name, upstream, check }: Variant): PeerKind {
  return {
    name,
    async start(lab) {
      const folder = path.join(lab.folder, name.replaceAll(/\W+/g, '-'));
      await mkdir(folder);
      // The nginx worker runs under an unprivileged account and must reach its temporary folders.
      await chmod(folder, 0o711);
      await copyFile(path.join(lab.folder, CERTIFICATE_FILE), path.join(folder, CERTIFICATE_FILE));
      const upstreamPort = (await upstream?.(lab)) ?? lab.upstreamPort;
      const peer = { ...(await kind.start({ ...lab, folder, upstreamPort })), name };
      await check?.(peer);
      return peer;
    },
  };
}

/** How the rows with HTTP/2 to an upstream are started. */
type Http2Variant = Omit<Variant, 'name'> & {
  /** Fields of the gateway's route. */
  readonly route?: object;
  /** Of the gateway's service; nginx and HAProxy keep the path of the caller. */
  readonly path?: string;
};

interface Names {
  readonly nginx: string;
  readonly haproxy: string;
  readonly gateway: string;
}

/** The proxies that speak HTTP/2 to an upstream, each with an upstream of its own. */
export function http2Peers(names: Names, given: Http2Variant): readonly PeerKind[] {
  const options = { secure: true, http2Upstream: true };
  const { upstream, check } = given;
  const variantOf = { ...(upstream && { upstream }), ...(check && { check }) };
  return [
    variant(nginx(options), { name: names.nginx, ...variantOf }),
    variant(haproxy(options), { name: names.haproxy, ...variantOf }),
    http2Gateway(names.gateway, given),
  ];
}

/** Only the gateway. */
export function http2Gateway(
  name: string,
  { route = {}, path: servicePath = '', ...variantOf }: Http2Variant,
): PeerKind {
  const configure = oneRoute({ route, service: { protocol: 'http2' }, path: servicePath });
  return variant(gateway({ secure: true, configure }), { name, ...variantOf });
}
