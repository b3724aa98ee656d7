import { Text } from '@mantine/core';
import { Fragment } from 'react';
import { useNamesOfServices } from '../../api/service-names.ts';
import { visibleText } from '../visible-text.ts';
import { resourceChanges } from './resource-changes.ts';
import classes from './resource-diff.module.css';

interface ResourceDiffProps {
  /** null: it did not exist. */
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
}

const SIGNS = { removed: '−', added: '+', same: ' ' } as const;
const SPOKEN = { removed: 'before: ', added: 'after: ', same: '' } as const;

const SERVICE_ID = /svc_[0-9a-z]{26}/g;

/** The fields of a resource that differ, each with what it was and what it is. */
export function ResourceDiff({ before, after }: ResourceDiffProps) {
  const changes = resourceChanges(before, after);
  const texts = changes.flatMap(({ lines }) => lines.map(({ text }) => text)).join(' ');
  const nameOf = useNamesOfServices(texts.match(SERVICE_ID) ?? []);
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
                  {visibleText(text.replace(SERVICE_ID, nameOf))}
                </Line>
              );
            })}
          </dd>
        </Fragment>
      ))}
    </dl>
  );
}
