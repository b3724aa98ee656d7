import { Code, Paper } from '@mantine/core';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { gateway } from '../../api/client.ts';
import { useScope } from '../../api/rights.ts';
import { NextStep } from '../../ui/next-step.tsx';
import classes from './first-steps.module.css';

/** What an environment has: whether there is a service, and a route. */
function contentsQuery(environment: string) {
  return queryOptions({
    // Begins as the lists do, so that a change refreshes it.
    queryKey: ['services', environment, 'contents'],
    queryFn: async ({ signal }) => {
      const params = { query: { environment, limit: 1 } };
      const [services, routes] = await Promise.all([
        gateway.get('/v1/services', { params, signal }),
        gateway.get('/v1/routes', { params, signal }),
      ]);
      const hasAny = ({ body }: { readonly body: { readonly data: readonly unknown[] } }) =>
        body.data.length > 0;
      return { hasService: hasAny(services), hasRoute: hasAny(routes) };
    },
    refetchInterval: 10_000,
  });
}

/** In an environment without routes: what to do next; undefined contents: not known. */
export function useIsEmpty(environment: string) {
  const services = useScope('services:read').allowed;
  const routes = useScope('routes:read').allowed;
  const { data } = useQuery({ ...contentsQuery(environment), enabled: services && routes });
  return data;
}

interface FirstStepsProps {
  readonly environment: string;
  readonly hasService: boolean;
}

/** In place of empty charts: the steps from nothing to a first request, and which of them is next. */
export function FirstSteps({ environment, hasService }: FirstStepsProps) {
  return (
    <Paper withBorder p="sm" component="section" aria-label="First steps">
      <h2 className={classes.title}>Nothing is served in {environment} yet</h2>
      <ol className={classes.steps}>
        <li data-done={hasService || undefined} data-next={!hasService || undefined}>
          <span>
            <b>Create a service:</b> the upstreams that requests are forwarded to.
          </span>
          {!hasService && (
            <NextStep scope="services:write" to="/services/new" isButton>
              Create the first service
            </NextStep>
          )}
        </li>
        <li data-next={hasService || undefined}>
          <span>
            <b>Create a route:</b> what callers may send, and to which service.
          </span>
          {hasService && (
            <NextStep scope="routes:write" to="/routes/new" isButton>
              Create the first route
            </NextStep>
          )}
        </li>
        <li>
          <span>
            <b>Send a request</b> to <Code>/v1/proxy/NAME</Code> with a token. It appears here
            within seconds.
          </span>
        </li>
      </ol>
    </Paper>
  );
}
