import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Fragment, useMemo } from 'react';
import { useScope } from '../../api/rights.ts';
import { serviceNamesQuery } from '../../api/service-names.ts';
import { visibleText } from '../visible-text.ts';
import { resourceChanges } from './resource-changes.ts';
import classes from './resource-diff.module.css';

interface ResourceDiffProps {
  /** null: it did not exist. */
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
  /** Whose services are named in place of their ids; by default that of the resource. */
  readonly environment?: string;
}

const SIGNS = { removed: '−', added: '+', same: ' ' } as const;
const SPOKEN = { removed: 'before: ', added: 'after: ', same: '' } as const;

const SERVICE_ID = /svc_[0-9a-z]{26}/g;
const NO_NAMES: ReadonlyMap<string, string> = new Map();

/** The names of the services of an environment by their ids; none, if the session may not list them. */
function useServiceNames(environment: string | undefined): ReadonlyMap<string, string> {
  const { allowed } = useScope('services:read');
  const { data } = useQuery({
    ...serviceNamesQuery(environment ?? ''),
    enabled: allowed && environment !== undefined,
  });
  return useMemo(
    () => (data === undefined ? NO_NAMES : new Map(data.map(({ id, name }) => [id, name]))),
    [data],
  );
}

/** The fields of a resource that differ, each with what it was and what it is. */
export function ResourceDiff({ before, after, environment: given }: ResourceDiffProps) {
  const own = (after ?? before)?.['environment'];
  const environment = given ?? (typeof own === 'string' ? own : undefined);
  const names = useServiceNames(environment);
  const changes = resourceChanges(before, after);
  if (changes.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        No field differs.
      </Text>
    );
  }
  return (
    <dl className={classes.fields}>
      {changes.map(({ path, lines }) => (
        <Fragment key={path}>
          <dt className={classes.field}>{path}</dt>
          <dd className={classes.lines}>
            {lines.map(({ kind, text }, index) => {
              const Line = kind === 'removed' ? 'del' : kind === 'added' ? 'ins' : 'span';
              return (
                <Line key={index} className={classes.line} data-kind={kind}>
                  <span aria-hidden>{SIGNS[kind]} </span>
                  <span className={classes.spoken}>{SPOKEN[kind]}</span>
                  {visibleText(text.replace(SERVICE_ID, (id) => names.get(id) ?? id))}
                </Line>
              );
            })}
          </dd>
        </Fragment>
      ))}
    </dl>
  );
}
