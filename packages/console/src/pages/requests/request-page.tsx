import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useFollowEnvironment } from '../../api/follow-environment.ts';
import { LoadError } from '../../ui/load-error.tsx';
import { Page } from '../../ui/page.tsx';
import { RequestSkeleton } from './detail/request-skeleton.tsx';
import { RequestView } from './detail/request-view.tsx';
import { RequestHeading } from './detail/request-heading.tsx';
import { requestTitle } from './request-path.ts';
import { requestQuery } from './requests-query.ts';

const page = getRouteApi('/app/requests/$id');

/** What happened to one request. */
export function RequestPage() {
  const { id } = page.useParams();
  const { data, error, refetch } = useQuery(requestQuery(id));
  useFollowEnvironment(data?.environment);
  return (
    <Page
      title={data === undefined ? `Request ${id}` : requestTitle(data)}
      heading={data === undefined ? `Request ${id}` : <RequestHeading record={data} />}
    >
      {error !== null && <LoadError error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <RequestSkeleton />}
      {data !== undefined && <RequestView record={data} />}
    </Page>
  );
}
