import { waysOf, wayText } from '@gateway/client/route-ways';
import { Skeleton, Text } from '@mantine/core';
import { ArrowRight } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Route } from '../../api/client.ts';
import { useNames } from '../../api/names-by-id.ts';
import { LongText } from '../../ui/long-text.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { visibleText } from '../../ui/visible-text.ts';
import { CopyChip } from '../../ui/copy-chip.tsx';
import { answerText } from '../routes/answer-text.ts';
import { weightText } from '../routes/weight-text.ts';
import classes from './route-heading.module.css';
import { servicesOf } from '../routes/services-of.ts';

/** More are in the form. */
const SHOWN_WAYS = 2;
const SHOWN_VERSIONS = 3;

/** Below the name of a route: where callers reach it, where requests go, and when that changed. */
export function RouteHeading({ route }: { readonly route: Route }) {
  const { name, match, status, mirror, revision, updated_at } = route;
  const ways = waysOf(match).map(wayText);
  return (
    <div className={classes.heading}>
      <div className={classes.line}>
        <CopyChip text={`/v1/proxy/${name}`} what="the path" />
        <span className={classes.target}>
          <ArrowRight size={16} strokeWidth={1.75} className={classes.arrow} aria-label="to" />
          <span className={classes.line}>
            <Target route={route} />
          </span>
        </span>
        {mirror !== null && (
          <Text span c="dimmed" className={classes.share ?? ''}>
            {mirror.percent} % copied to <ServiceLink route={route} id={mirror.service_id} />
          </Text>
        )}
        <Text span c="dimmed" className={classes.changed ?? ''}>
          {status === 'disabled' && 'Requests get 404. '}
          Changed <RelativeTime at={updated_at} />, revision {revision}
        </Text>
      </div>
      {ways.length > 0 && (
        <div className={classes.line}>
          <Text span c="dimmed">
            Also at
          </Text>
          {ways.slice(0, SHOWN_WAYS).map((way) => (
            <span key={way} className={classes.way}>
              {visibleText(way)}
            </span>
          ))}
          {ways.length > SHOWN_WAYS && (
            <Text span c="dimmed">
              and {ways.length - SHOWN_WAYS} more
            </Text>
          )}
        </div>
      )}
    </div>
  );
}

/** The service, each version with its share, or the answer of the gateway. */
function Target({ route }: { readonly route: Route }): ReactNode {
  const { versions, service_id: service } = route;
  if (versions !== null) {
    const more = versions.length - SHOWN_VERSIONS;
    return (
      <>
        {versions.slice(0, SHOWN_VERSIONS).map(({ name, weight, service_id: id }) => (
          <Text key={name} span className={classes.share ?? ''}>
            {weightText(weight, versions)} {name}: <ServiceLink route={route} id={id} />
          </Text>
        ))}
        {more > 0 && (
          <Text span c="dimmed">
            and {more} more
          </Text>
        )}
      </>
    );
  }
  if (service === null) return <LongText text={answerText(route) ?? ''} what="answer" />;
  return <ServiceLink route={route} id={service} />;
}

interface ServiceLinkProps {
  readonly route: Route;
  readonly id: string;
}

/** Leads to a service by its name; by its id if the session may not list services. */
function ServiceLink({ route, id }: ServiceLinkProps) {
  const { nameOf, isLoading } = useNames('service', servicesOf(route));
  if (isLoading) return <Skeleton component="span" display="inline-block" h={12} w={80} />;
  return (
    <TextLink to="/services/$serviceId" params={{ serviceId: id }} inherit>
      {nameOf(id)}
    </TextLink>
  );
}
