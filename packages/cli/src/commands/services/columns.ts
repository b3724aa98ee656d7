import type { components } from '@gateway/client';
import { styleOfWord } from '../../output/meanings.ts';
import type { Column } from '../../output/table.ts';

type Service = components['schemas']['Service'];

export const serviceColumns: readonly Column<Service>[] = [
  { title: 'NAME', of: ({ name }) => name },
  { title: 'ENVIRONMENT', leftOut: 1, of: ({ environment }) => environment },
  { title: 'STATUS', of: ({ status }) => status, style: ({ status }) => styleOfWord(status) },
  { title: 'URL', shrinks: 12, of: urlOf },
  { title: 'ID', wide: true, of: ({ id }) => id },
  { title: 'REVISION', wide: true, of: ({ revision }) => revision },
  { title: 'UPDATED', wide: true, of: ({ updated_at }) => updated_at },
];

function urlOf({ url, upstreams }: Service): string {
  return upstreams.length > 1 ? `${url} and ${upstreams.length - 1} more` : url;
}
