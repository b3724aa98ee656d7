import type { AddressRanges } from '../net/upstream-addresses.ts';
import { z } from 'zod';
import { integerField, objectField, regionField } from './fields.ts';
import { urlField } from './url-field.ts';

const MAX_UPSTREAMS = 64;

export const UPSTREAMS_DESCRIPTION =
  'The addresses of the service. Requests are divided between the healthy ones.';

const URL_META = {
  title: 'URL',
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
      title: 'Region',
      description:
        'Where the upstream is. Data planes prefer upstreams of their own region. null: no region.',
      examples: ['eu-west'],
    }),
  weight: integerField(1, 1000)
    .default(1)
    .meta({
      title: 'Weight',
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
  const upstream = objectField({ ...upstreamFields, url: urlField(deny).meta(URL_META) }).meta({
    title: 'Upstream',
  });
  return z
    .array(upstream, { error })
    .min(1, { error })
    .max(MAX_UPSTREAMS, { error })
    .superRefine((items, context) => {
      const seen = new Set<string>();
      items.forEach((item, index) => {
        const key = upstreamKey(item);
        if (seen.has(key)) {
          const message = 'has the url and region of another upstream; use weight instead';
          context.addIssue({ code: 'custom', path: [index], message });
        }
        seen.add(key);
      });
    })
    .meta({ title: 'Upstreams', description: UPSTREAMS_DESCRIPTION });
}

/** Identifies an upstream before and after a change of its service. */
export function upstreamKey({ url, region }: Pick<Upstream, 'url' | 'region'>): string {
  return JSON.stringify([url, region]);
}
