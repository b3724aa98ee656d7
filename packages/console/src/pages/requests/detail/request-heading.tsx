import type { RequestRecord } from '../../../api/client.ts';
import { withoutStatus } from '../request-path.ts';
import { StatusCode } from '../status-code.tsx';

/** The title of a request, with its status in its colour. */
export function RequestHeading({ record }: { readonly record: RequestRecord }) {
  return (
    <>
      <span style={{ marginInlineEnd: 4 }}>
        <StatusCode record={record} filled />
      </span>{' '}
      {/* A path has no words that it could be broken between. */}
      <span style={{ wordBreak: 'break-all' }}>{withoutStatus(record)}</span>
    </>
  );
}
