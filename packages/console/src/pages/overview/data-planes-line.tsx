import { queryOptions, useQuery } from '@tanstack/react-query';
import { gateway } from '../../api/client.ts';
import { useScope } from '../../api/rights.ts';
import { TextLink } from '../../ui/text-link.tsx';
import { dataPlanesText } from './data-planes-text.ts';
import classes from './data-planes-line.module.css';

/** More are summed up by their page. */
const MAX_READ = 200;

function dataPlanesQuery(environment: string) {
  return queryOptions({
    queryKey: ['data-planes', environment, 'overview'],
    queryFn: async ({ signal }) => {
      const query = { environment, limit: MAX_READ };
      return (await gateway.get('/v1/data-planes', { params: { query }, signal })).body.data;
    },
    refetchInterval: 3000,
  });
}

/** The data planes in one line, such as `2 live, all on v223`. */
export function DataPlanesLine({ environment }: { readonly environment: string }) {
  const { allowed } = useScope('config:read');
  const { data } = useQuery({ ...dataPlanesQuery(environment), enabled: allowed });
  if (data === undefined) return null;
  const { text, isBad } = dataPlanesText(data, environment);
  return (
    <section aria-label="Data planes" className={classes.line}>
      <span className={classes.dot} data-bad={isBad || undefined} aria-hidden />
      <span>
        Data planes:{' '}
        <TextLink to="/data-planes" inherit>
          {text}
        </TextLink>
      </span>
    </section>
  );
}
