import type { AddressRanges } from '@gateway/shared/net/upstream-addresses';
import { z } from 'zod';
import { integerField, objectField, regionField } from '../fields/fields.ts';
import { urlField } from '../fields/url-field.ts';

const MAX_UPSTREAMS = 64;

export const UPSTREAMS_DESCRIPTION =
  'The addresses of the service. Requests are divided between the healthy ones.';

const URL_META = {
  description: 'The address of the upstream. The rest of the proxy path is appended to it.',
  examples: ['https://payments.internal:8443'],
};

/** The fields of an upstream, without the check of its address. */
export const upstreamFields = {
  url: z.string().meta(URL_META),
  region: regionField
    .nullable()
    .default(null)
    .meta({
      description:
        'Where the upstream is. Data planes prefer upstreams of their own region. null: no region.',
      examples: ['eu-west'],
    }),
  weight: integerField(1, 1000)
    .default(1)
    .meta({
      description: 'Its share of the sum of weights is its share of the requests.',
      examples: [1],
    }),
};

/** One upstream of a service. Data planes store its health and its connections under its id. */
export type Upstream = Readonly<z.output<z.ZodObject<typeof upstreamFields>>> & {
  readonly id: string;
};

/** The upstreams of a service; addresses in `deny` are refused. */
export function upstreamsField(deny: AddressRanges) {
  const error = `must be a list of 1 to ${MAX_UPSTREAMS} items`;
  const upstream = objectField({ ...upstreamFields, url: urlField(deny).meta(URL_META) });
  return z
    .array(upstream, { error })
    .min(1, { error })
    .max(MAX_UPSTREAMS, { error })
    .superRefine((items, context) => {
      const seen = new Set<string>();
      items.forEach((item, index) => {
        const key = keyOf(item);
        if (seen.has(key)) {
          const message = 'has the url and region of another upstream; use weight instead';
          context.addIssue({ code: 'custom', path: [index], message });
        }
        seen.add(key);
      });
    })
    .meta({ description: UPSTREAMS_DESCRIPTION });
}

/** Identifies an upstream before and after a change of its service. */
function keyOf({ url, region }: Pick<Upstream, 'url' | 'region'>): string {
  return JSON.stringify([url, region]);
}

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
  const kept = new Map(before.map((upstream) => [keyOf(upstream), upstream.id]));
  const wanted = body.upstreams ?? upstreamAt(body.url, before);
  if (wanted.length === 0) return undefined;
  return wanted.map(({ url, region, weight }) => {
    return { id: kept.get(keyOf({ url, region })) ?? newId(), url, region, weight };
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
