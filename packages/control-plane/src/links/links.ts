import { dashboardTemplate, type LinkedDashboard } from '@gateway/shared/links/dashboards';
import { LINK_PLACEHOLDERS } from '@gateway/shared/links/link-template';
import { linkTemplateVariable, pageUrlVariable } from '@gateway/shared/links/link-variables';
import { z } from 'zod';

/** The settings that name other tools. */
export const linkVariables = {
  /** Where people open the console. */
  CONSOLE_URL: pageUrlVariable.optional(),
  /** The Grafana that has the dashboards of `deploy/grafana`. */
  GRAFANA_URL: pageUrlVariable.optional(),
  TRACE_URL_TEMPLATE: linkTemplateVariable(['trace_id']).optional(),
  LOGS_URL_TEMPLATE: linkTemplateVariable(['request_id', 'trace_id']).optional(),
};

export type LinkSettings = Readonly<
  Partial<Record<keyof typeof linkVariables, string | undefined>>
>;

const EXAMPLE = 'https://grafana.example.com';
const VALUES = LINK_PLACEHOLDERS.map((name) => `\`{${name}}\``).join(', ');

const templateField = (what: string, setting: string, example: string) =>
  z
    .string()
    .nullable()
    .meta({ description: `${what} null: ${setting} is not set.`, examples: [example] });

const dashboardField = (name: LinkedDashboard, what: string) =>
  templateField(`The dashboard of ${what}.`, '`GRAFANA_URL`', dashboardTemplate(EXAMPLE, name));

const dashboardFields = {
  traffic: dashboardField('traffic', 'all traffic'),
  route: dashboardField('route', 'one route'),
  canary: dashboardField('canary', 'the versions of one route'),
  service: dashboardField('service', 'the upstreams of a service'),
  configuration: dashboardField('configuration', 'the configuration and its rollout'),
  processes: dashboardField('processes', 'the processes of both planes'),
} satisfies Record<LinkedDashboard, z.ZodType>;

/** The schema of `linksView`. */
export const linksSchema = z
  .object({
    console: templateField(
      'The address of the console. It has no placeholders.',
      '`CONSOLE_URL`',
      'https://gateway.example.com/console',
    ),
    trace: templateField(
      'The trace of one request, if the request was sampled.',
      '`TRACE_URL_TEMPLATE`',
      'https://traces.example.com/trace/{trace_id}',
    ),
    logs: templateField(
      'The log lines of one request.',
      '`LOGS_URL_TEMPLATE`',
      'https://logs.example.com/?q={request_id}&from={from_ms}&to={to_ms}',
    ),
    dashboards: z.object(dashboardFields).meta({ description: 'Dashboards in Grafana.' }),
  })
  .meta({
    id: 'Links',
    description: `Templates of links to other tools. Replace ${VALUES} by percent-encoded values. \`{from_ms}\` and \`{to_ms}\` are the period to show, in milliseconds since the Unix epoch.`,
  });

/** The templates that these settings make, as the API shows them. */
export function linksView(settings: LinkSettings): z.input<typeof linksSchema> {
  const { GRAFANA_URL: grafana } = settings;
  const dashboard = (name: LinkedDashboard) =>
    grafana === undefined ? null : dashboardTemplate(grafana, name);
  return {
    console: settings.CONSOLE_URL ?? null,
    trace: settings.TRACE_URL_TEMPLATE ?? null,
    logs: settings.LOGS_URL_TEMPLATE ?? null,
    dashboards: {
      traffic: dashboard('traffic'),
      route: dashboard('route'),
      canary: dashboard('canary'),
      service: dashboard('service'),
      configuration: dashboard('configuration'),
      processes: dashboard('processes'),
    },
  };
}
