import { MAX_CONFIG_ERROR_CHARS, MAX_CONFIG_ERRORS } from '@gateway/shared/heartbeats/heartbeat';
import type { ConfigurationStatus } from './configuration-feed.ts';

/** Longest error in a heartbeat. */
const MAX_ERROR_CHARS = 1000;

/** The configuration part of a heartbeat, within the bounds of a heartbeat. */
export interface ConfigurationReport {
  readonly config_versions: Record<string, number>;
  /** By environment; only the first ones if there are more. */
  readonly config_errors: Record<string, string>;
  readonly last_error: string | null;
}

export function reportConfiguration(status: ConfigurationStatus): ConfigurationReport {
  const versions = [...status.environments].map(([name, { version }]) => [name, version] as const);
  const errors = [...status.errors]
    .slice(0, MAX_CONFIG_ERRORS)
    .map(([name, why]) => [name, why.slice(0, MAX_CONFIG_ERROR_CHARS)] as const);
  return {
    config_versions: Object.fromEntries(versions),
    config_errors: Object.fromEntries(errors),
    last_error: status.lastError?.slice(0, MAX_ERROR_CHARS) ?? null,
  };
}
