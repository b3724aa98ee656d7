import { ApiError, ConnectionError, type components } from '@gateway/client';
import { fillLink, type LinkValues } from '@gateway/shared/links/link-template';
import { lastHour, valuesOfRequest } from '@gateway/shared/links/link-values';
import { readRoute } from '../../lookup/find-route.ts';
import { readService } from '../../lookup/find-service.ts';
import { FailedError, UsageError } from '../../program/exit-codes.ts';
import type { Session } from '../../session.ts';
import { didYouMean } from '@gateway/shared/similar/did-you-mean';

type Links = components['schemas']['Links'];
type Dashboard = keyof Links['dashboards'];

/** Other tools that a setting of the gateway names. */
export const TOOLS = ['trace', 'logs', 'dashboard'] as const;
type Tool = (typeof TOOLS)[number];

export const isTool = (word: string | undefined): word is Tool =>
  TOOLS.some((tool) => tool === word);

/** What each dashboard is about; undefined: nothing that has a name. */
const DASHBOARDS: Readonly<Record<Dashboard, 'route' | 'service' | undefined>> = {
  traffic: undefined,
  route: 'route',
  canary: 'route',
  service: 'service',
  configuration: undefined,
  processes: undefined,
};

/** The settings for links. undefined: they cannot be read, so the addresses are not known. */
export async function readLinks({ client }: Session): Promise<Links | undefined> {
  try {
    return (await client.get('/v1/links')).body.data;
  } catch (error) {
    if (error instanceof ApiError || error instanceof ConnectionError) return undefined;
    throw error;
  }
}

/**
 * The URL of the trace or the log lines of a request, or of a dashboard.
 * @throws UsageError if the command line does not say of what, FailedError if no setting names the tool
 */
export function toolUrl(
  session: Session,
  tool: Tool,
  name: string | undefined,
  of: string | undefined,
): Promise<string> {
  if (tool === 'dashboard') return dashboardUrl(session, name ?? 'traffic', of);
  if (name === undefined) throw new UsageError(`name the request: gwctl open ${tool} req_…`);
  return requestUrl(session, tool, name);
}

async function requestUrl({ client }: Session, tool: 'trace' | 'logs', id: string) {
  const [{ body }, links] = await Promise.all([
    client.get('/v1/requests/{id}', { params: { path: { id } } }),
    client.get('/v1/links'),
  ]);
  const setting = tool === 'trace' ? 'TRACE_URL_TEMPLATE' : 'LOGS_URL_TEMPLATE';
  return filled(links.body.data[tool], valuesOfRequest(body.data), setting);
}

async function dashboardUrl(session: Session, name: string, of: string | undefined) {
  const { environment, terminal } = session;
  const names = Object.keys(DASHBOARDS);
  if (!isDashboard(name)) {
    const hint = didYouMean(name, names) || `; dashboards: ${names.join(', ')}`;
    throw new UsageError(`there is no dashboard ${name}${hint}`);
  }
  const subject = DASHBOARDS[name];
  if (subject === undefined && of !== undefined) {
    throw new UsageError(`the dashboard ${name} is not about one resource; leave ${of} out`);
  }
  if (subject !== undefined && of === undefined) {
    throw new UsageError(`name the ${subject}: gwctl open dashboard ${name} NAME`);
  }
  const [links, found] = await Promise.all([
    session.client.get('/v1/links'),
    of === undefined ? undefined : readSubject(session, subject, of),
  ]);
  const values = { environment: environment ?? ALL, ...lastHour(terminal.nowMs()), ...found };
  return filled(links.body.data.dashboards[name], values, 'GRAFANA_URL');
}

/** All values of a variable, in the words of Grafana. */
const ALL = '$__all';

const isDashboard = (name: string): name is Dashboard => Object.hasOwn(DASHBOARDS, name);

/** The environment and the name, also if the id was given. */
async function readSubject(session: Session, subject: 'route' | 'service' | undefined, of: string) {
  const read = subject === 'service' ? readService : readRoute;
  const { environment, name } = (await read(session, of)).body.data;
  return { environment, [subject ?? '']: name };
}

/** @param template null: the setting is not set */
function filled(template: string | null, values: LinkValues, setting: string): string {
  if (template === null)
    throw new FailedError(`the gateway has no such link: ${setting} is not set`);
  const url = fillLink(template, values);
  if (url === undefined) throw new FailedError(`the link of ${setting} needs more than is known`);
  return url;
}
