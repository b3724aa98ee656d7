/** What a client sees, by what it does. The words stand in docs/use/clients.md, so they say it to a reader. */
export type Observations = Readonly<Record<string, string>>;

/** Where a client calls, and with which gateway token. A server that is called direct ignores the token. */
export interface Target {
  /** Without a slash at its end. */
  readonly url: string;
  readonly token: string;
  /** PEM of the authority of the certificate, if the client must call over TLS. */
  readonly ca?: string;
}

/** The servers of one run of a pair. */
export interface StartedServer {
  /** The upstreams of the route. The first one is called direct. */
  readonly urls: readonly [string, ...string[]];
  /** Fields of the service. */
  readonly service?: Readonly<Record<string, unknown>>;
  /** Fields of the route. */
  readonly route?: Readonly<Record<string, unknown>>;
  /** Calls with the client until it has done everything. */
  use(target: Target): Promise<Observations>;
  close(): Promise<void>;
}

/** A client and the server that it is made for. */
export interface Pair {
  /** As in the tables of docs/use/clients.md. */
  readonly client: string;
  /** Of the client. */
  readonly version: string;
  /** Tells several pairs of one client apart. */
  readonly variant?: string;
  /**
   * `host`: the route is called by a host of its own, so that the client keeps the paths that it uses. Default: by its name.
   */
  readonly reach?: 'name' | 'host';
  /** The route is called over TLS. The server is called without. */
  readonly secure?: true;
  /** Why the pair cannot run on this machine. */
  readonly missing?: string;
  /** Starts servers for one run. */
  start(): Promise<StartedServer>;
  /** What the client sees without a gateway. */
  readonly direct: Observations;
  /** What it sees otherwise through a route. The reasons stand in docs/use/clients.md. */
  readonly otherwise: Observations;
}

/** The client and the variant. */
export function nameOf({ client, variant }: Pair): string {
  return variant === undefined ? client : `${client}, ${variant}`;
}

/** The words for how a call ended: its result, or the status or message of its error. */
export async function outcome(call: () => Promise<string | boolean | undefined>): Promise<string> {
  try {
    return String(await call());
  } catch (error) {
    const { status, statusCode } = error as { status?: unknown; statusCode?: unknown };
    const code = status ?? statusCode;
    return typeof code === 'number' ? String(code) : `error: ${(error as Error).message}`;
  }
}
