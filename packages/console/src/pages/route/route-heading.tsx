import { Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { ArrowRight } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Route } from '../../api/client.ts';
import { serviceNamesQuery } from '../../api/service-names.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { answerText } from '../routes/answer-text.ts';
import { RouteWays } from '../routes/route-ways.tsx';
import { weightText } from '../routes/weight-text.ts';
import classes from './route-heading.module.css';

/** More are in the form. */
const SHOWN_WAYS = 2;

/** Below the name of a route: whether it serves, where callers reach it, and where requests go. */
export function RouteHeading({ route }: { readonly route: Route }) {
  const { data: services = [] } = useQuery(serviceNamesQuery(route.environment));
  const nameOf = (id: string) => services.find((one) => one.id === id)?.name ?? id;
  const { status, mirror, revision, updated_at } = route;
  return (
    <div className={classes.heading}>
      <Group gap="xs" className={classes.status ?? ''}>
        <StatusBadge status={status} />
        {status === 'disabled' && <Text span>Requests get 404.</Text>}
        <Text span c="dimmed">
          Changed <RelativeTime at={updated_at} />, revision {revision}
        </Text>
      </Group>
      <div className={classes.way}>
        <RouteWays route={route} shown={SHOWN_WAYS} withName />
        <ArrowRight size={16} strokeWidth={1.75} className={classes.arrow} aria-label="to" />
        <div>
          <Target route={route} nameOf={nameOf} />
          {mirror !== null && (
            <Text c="dimmed">
              {mirror.percent} % copied to{' '}
              <ServiceLink id={mirror.service_id}>{nameOf(mirror.service_id)}</ServiceLink>
            </Text>
          )}
        </div>
      </div>
    </div>
  );
}

interface TargetProps {
  readonly route: Route;
  readonly nameOf: (id: string) => string;
}

/** The service, each version with its share, or the answer of the gateway. */
function Target({ route, nameOf }: TargetProps) {
  const { versions, service_id: service } = route;
  if (versions !== null) {
    return versions.map(({ name, weight, service_id: id }) => (
      <Text key={name}>
        {weightText(weight, versions)} {name}: <ServiceLink id={id}>{nameOf(id)}</ServiceLink>
      </Text>
    ));
  }
  if (service === null) return <Text>{answerText(route)}</Text>;
  return <ServiceLink id={service}>{nameOf(service)}</ServiceLink>;
}

function ServiceLink({ id, children }: { readonly id: string; readonly children: ReactNode }) {
  return (
    <TextLink to="/services/$serviceId" params={{ serviceId: id }} inherit>
      {children}
    </TextLink>
  );
}
