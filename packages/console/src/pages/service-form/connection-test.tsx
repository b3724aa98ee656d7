import { ApiError, type components } from '@gateway/client';
import { countedText } from '@gateway/client/measures';
import { Alert, Group, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { use } from 'react';
import { gateway } from '../../api/client.ts';
import { errorText } from '../../ui/error-text.ts';
import { fieldLabel, messageText } from '../../ui/form/field-labels.ts';
import { useForm } from '../../ui/form/form-context.ts';
import { FormDefinition } from '../../ui/form/form-definition.ts';
import { ScopedButton } from '../../ui/scoped-button.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import classes from './connection-test.module.css';
import { testQuestion, type FormTarget } from './test-question.ts';

type Test = components['schemas']['ConnectionTest'];
type Question = components['schemas']['ConnectionTestQuestion'];

/** Asks data planes whether they reach the upstreams as the form has them now, saved or not. */
export function ConnectionTest({ target }: { readonly target: FormTarget }) {
  const { base, draft } = useForm();
  const question = testQuestion(base, draft, target);
  const testing = useMutation({
    mutationFn: async (body: Question) =>
      (await gateway.post('/v1/connection-tests', { body })).body.data,
  });
  const { data, error, variables } = testing;
  // What was seen says nothing of what was typed since.
  const isCurrent = JSON.stringify(variables) === JSON.stringify(question);
  return (
    <Stack gap="sm">
      <Group gap="sm">
        <ScopedButton
          scope="services:write"
          variant="default"
          size="xs"
          loading={testing.isPending}
          onClick={() => testing.mutate(question)}
        >
          Test connection
        </ScopedButton>
        <Text size="xs" c="dimmed">
          Data planes make one health check of each upstream. Nothing is saved.
        </Text>
      </Group>
      {isCurrent && error !== null && <Fault error={error} />}
      {isCurrent && data !== undefined && <Results test={data} />}
    </Stack>
  );
}

/** The fields of the form have the messages of the last save. */
function Fault({ error }: { readonly error: unknown }) {
  const form = use(FormDefinition);
  const details = error instanceof ApiError ? error.details : [];
  const texts = details.map(
    ({ path, message }) => `${fieldLabel(path, form)} ${messageText(message, form) ?? ''}`,
  );
  return (
    <Alert color="red" role="alert" title="Nothing was tested">
      {(texts.length > 0 ? texts : [errorText(error)]).map((text) => (
        <Text key={text} size="sm">
          {text}
        </Text>
      ))}
    </Alert>
  );
}

/** One line for each upstream that a data plane tested, or for a data plane that did not. */
interface Line {
  /** The place of the upstream in the form; -1: all of them. */
  readonly at: number;
  readonly key: string;
  readonly status: string;
  readonly dataPlane: string;
  readonly url: string | undefined;
  readonly message: string;
}

function Results({ test }: { readonly test: Test }) {
  const lines = linesOf(test);
  const others = test.unasked_data_planes;
  return (
    <div role="status" aria-label="Results of the test">
      <ul className={classes.lines}>
        {lines.map(({ key, status, dataPlane, url, message }) => (
          <li key={key} className={classes.line}>
            <StatusBadge status={status} />
            <span className={classes.from}>{dataPlane}</span>
            <span className={classes.message}>
              {url !== undefined && <span className={classes.url}>{url}</span>}
              {message}
            </span>
          </li>
        ))}
      </ul>
      {others > 0 && (
        <Text size="xs" c="dimmed">
          {countedText(others, 'more live data plane')} {others === 1 ? 'was' : 'were'} not asked.
        </Text>
      )}
    </div>
  );
}

/** By upstream, as the form has them, then by data plane. */
function linesOf({ data_planes }: Test): Line[] {
  const lines = data_planes.flatMap(({ id, region, message, upstreams }): Line[] => {
    const dataPlane = `${id} (${region})`;
    if (message !== null) {
      return [{ at: -1, key: id, status: 'not tested', dataPlane, url: undefined, message }];
    }
    return upstreams.map(({ url, outcome, message: seen }, at) => ({
      at,
      key: `${id} ${at}`,
      status: outcome,
      dataPlane,
      url: upstreams.length > 1 ? url : undefined,
      message: seen,
    }));
  });
  return lines.toSorted((a, b) => a.at - b.at);
}
