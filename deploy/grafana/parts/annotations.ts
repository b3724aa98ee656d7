import * as dashboard from '@grafana/grafana-foundation-sdk/dashboard';
import { DATA_SOURCE } from './panel.ts';
import type { Queries } from './query.ts';

/**
 * A line in every graph when a data plane began to serve another version of the configuration. It can be switched off at
 * the top of the dashboard, because an environment may have many versions.
 */
export function versionAnnotation(q: Queries): dashboard.AnnotationQueryBuilder {
  return new dashboard.AnnotationQueryBuilder()
    .name('Configuration')
    .datasource(DATA_SOURCE)
    .enable(true)
    .iconColor('blue')
    .expr(newVersions(q))
    .titleFormat('Configuration of {{environment}}')
    .textFormat('version {{version}}')
    .tagKeys('environment');
}

/** The versions that no data plane served one step before. The version is a label, because a text can name only labels. */
function newVersions(q: Queries): string {
  const versions = (offset: string) =>
    `count_values by (environment) ("version", ${q.series('gateway_config_version')}${offset})`;
  return `${versions('')} unless ${versions(' offset $__interval')}`;
}
