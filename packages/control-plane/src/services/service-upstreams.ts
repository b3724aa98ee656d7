import { upstreamKey, type Upstream } from '@gateway/shared/definitions/service-upstreams';

/** The upstreams in a body: a list, or the URL of the only one. */
export interface UpstreamsInput {
  readonly url?: string | undefined;
  readonly upstreams?: readonly Omit<Upstream, 'id'>[] | undefined;
}

export function hasUpstreams({ url, upstreams }: UpstreamsInput): boolean {
  return url !== undefined || upstreams !== undefined;
}

/** Whether the two fields name different URLs; a response has both. */
export function contradictsUpstreams({ url, upstreams }: UpstreamsInput): boolean {
  return url !== undefined && upstreams !== undefined && upstreams[0]?.url !== url;
}

/** What is wrong with a change of `url` alone, if anything: it must not silently replace several upstreams. */
export function urlFault(body: UpstreamsInput, before: readonly Upstream[]): string | undefined {
  if (body.url === undefined || body.upstreams !== undefined || before.length < 2) return undefined;
  return `cannot be changed alone, because the service has ${before.length} upstreams; change \`upstreams\` instead`;
}

/**
 * The upstreams after a change, or undefined if the body names none. An upstream whose url and region stay
 * keeps its id, so that data planes keep its health and connections. `url` changes the only upstream, and keeps its region
 * and weight.
 */
export function upstreamsOf(
  body: UpstreamsInput,
  before: readonly Upstream[],
  newId: () => string,
): readonly Upstream[] | undefined {
  const wanted = body.upstreams ?? upstreamAt(body.url, before);
  if (wanted.length === 0) return undefined;
  const plain = wanted.map(({ url, region, weight }) => ({ url, region, weight }));
  return withPresentIds(plain, before, newId);
}

/**
 * Upstreams with the ids that they have in `before`.
 *
 * @param idOf the id of one that is not in it
 */
export function withPresentIds<Wanted extends Omit<Upstream, 'id'>>(
  wanted: readonly Wanted[],
  before: readonly Upstream[],
  idOf: (upstream: Wanted) => string,
): readonly Upstream[] {
  const present = new Map(before.map((upstream) => [upstreamKey(upstream), upstream.id]));
  return wanted.map((upstream) => {
    return { ...upstream, id: present.get(upstreamKey(upstream)) ?? idOf(upstream) };
  });
}

function upstreamAt(
  url: string | undefined,
  before: readonly Upstream[],
): readonly Omit<Upstream, 'id'>[] {
  const [first] = before;
  if (url === undefined) return [];
  if (first?.url === url) return before;
  const { region, weight } = before.length === 1 && first ? first : { region: null, weight: 1 };
  return [{ url, region, weight }];
}

/** Whether the upstream has nothing but a URL. */
export function isSimpleUpstream({ region, weight }: Pick<Upstream, 'region' | 'weight'>): boolean {
  return region === null && weight === 1;
}
