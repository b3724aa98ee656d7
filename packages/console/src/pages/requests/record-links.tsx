import { useQuery } from '@tanstack/react-query';
import type { RequestRecord } from '../../api/client.ts';
import { namedRouteQuery } from '../../api/named-route.ts';
import { useScope } from '../../api/rights.ts';
import { useNamesOfTokens } from '../../api/token-names.ts';
import { TextLink } from '../../ui/text-link.tsx';
import { visibleText } from '../../ui/visible-text.ts';
import { useRecordedService } from './recorded-service.ts';

interface RecordProps {
  readonly record: RequestRecord;
}

/** The id of the route of a request; null or undefined: it does not exist, or is not known yet. */
export function useRouteId({ environment, route }: RequestRecord): string | null | undefined {
  const { allowed } = useScope('routes:read');
  const enabled = allowed && environment !== null && route !== null;
  const { data } = useQuery({ ...namedRouteQuery(environment ?? '', route ?? ''), enabled });
  return data === null ? null : data?.id;
}

/** The route and the version of a request, with a link if the route exists still. */
export function RecordedRoute({ record }: RecordProps) {
  const { route, route_version } = record;
  const routeId = useRouteId(record);
  const name = route_version === null ? route : `${route ?? ''}, version ${route_version}`;
  if (routeId === undefined || routeId === null) return name;
  return (
    <TextLink to="/routes/$routeId" params={{ routeId }} search={environmentOf(record)} inherit>
      {name}
    </TextLink>
  );
}

/** The service of a request, with a link if it exists still. */
export function RecordedService({ record }: RecordProps) {
  const service = useRecordedService(record);
  if (service === undefined) return record.service_id;
  return <ServiceLink record={record} serviceId={service.id} text={service.name} />;
}

/** The upstream of the last attempt, with a link to the service, which shows its health. */
export function RecordedUpstream({ record }: RecordProps) {
  const service = useRecordedService(record);
  const { upstream } = record;
  if (upstream === null) return null;
  const text = upstream.region === null ? upstream.url : `${upstream.url}, ${upstream.region}`;
  if (service === undefined) return text;
  return <ServiceLink record={record} serviceId={service.id} text={text} />;
}

/** The token of the caller by its name, with a link to its requests. */
export function RecordedToken({ record, token }: RecordProps & { readonly token: string }) {
  const nameOf = useNamesOfTokens([token]);
  return (
    <TextLink to="/requests" search={{ token, ...environmentOf(record) }} inherit title={token}>
      {nameOf(token)}
    </TextLink>
  );
}

/** The version of the configuration that a request was served with, with a link to what it changed. */
export function RecordedConfiguration({ record }: RecordProps) {
  const version = String(record.config_version);
  return (
    <TextLink
      to="/configuration/$version"
      params={{ version }}
      search={environmentOf(record)}
      inherit
    >
      version {version}
    </TextLink>
  );
}

interface ServiceLinkProps extends RecordProps {
  readonly serviceId: string;
  readonly text: string;
}

function ServiceLink({ record, serviceId, text }: ServiceLinkProps) {
  return (
    <TextLink
      to="/services/$serviceId"
      params={{ serviceId }}
      search={environmentOf(record)}
      inherit
      lineClamp={3}
      title={text}
    >
      {visibleText(text)}
    </TextLink>
  );
}

/** Pages that a record leads to show the environment of the record. */
export function environmentOf({ environment }: Pick<RequestRecord, 'environment'>) {
  return environment === null ? {} : { environment };
}
