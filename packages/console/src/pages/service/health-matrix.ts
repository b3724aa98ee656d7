import type { ServiceHealth } from '../../api/client.ts';

type Upstream = ServiceHealth['upstreams'][number];
/** An upstream as one data plane sees it. */
type SeenUpstream = Upstream['data_planes'][number];
export type UpstreamStatus = SeenUpstream['status'];

/** A data plane that reports on the service: a column of the matrix. */
interface ReportingPlane {
  readonly id: string;
  readonly region: string;
}

/** An upstream and what each data plane finds, in the order of the columns: a row of the matrix. */
interface MatrixRow {
  readonly upstream: Upstream;
  /** undefined: the response leaves this data plane out. */
  readonly seen: readonly (SeenUpstream | undefined)[];
}

export interface HealthMatrix {
  readonly planes: readonly ReportingPlane[];
  readonly rows: readonly MatrixRow[];
}

/** The upstreams by the data planes that check them, data planes by region and id. */
export function healthMatrix({ upstreams }: ServiceHealth): HealthMatrix {
  const found = new Map<string, ReportingPlane>();
  for (const { data_plane: id, region } of upstreams.flatMap((one) => one.data_planes)) {
    found.set(id, { id, region });
  }
  const planes = [...found.values()].toSorted(
    (a, b) => a.region.localeCompare(b.region) || a.id.localeCompare(b.id),
  );
  return {
    planes,
    rows: upstreams.map((upstream) => {
      const seen = new Map(upstream.data_planes.map((one) => [one.data_plane, one]));
      return { upstream, seen: planes.map(({ id }) => seen.get(id)) };
    }),
  };
}
