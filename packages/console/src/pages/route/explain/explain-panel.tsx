import { ApiError, type components } from '@gateway/client';
import { Button, Group, Paper, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useMemo, useRef, useState, type SubmitEvent } from 'react';
import { gateway, type Route } from '../../../api/client.ts';
import { useCaller, useScope } from '../../../api/rights.ts';
import { Empty } from '../../../ui/empty.tsx';
import { withValue } from '../../../ui/form/draft.ts';
import { NotPermitted } from '../../../ui/not-permitted.tsx';
import { fieldErrors } from '../../../ui/form/field-errors.ts';
import { FormContext } from '../../../ui/form/form-context.ts';
import { FormError } from '../../../ui/form/form-error.tsx';
import classes from './explain-panel.module.css';
import { ExplanationView } from './explanation-view.tsx';
import { askedDraft, explainSearch, type ExplainSearch } from './explain-search.ts';
import { QuestionFields } from './question-fields.tsx';
import { firstQuestion, questionLabel, questionOf } from './question.ts';

interface ExplainPanelProps {
  readonly route: Route;
  /** What the URL says of the request. */
  readonly asked: ExplainSearch;
  /** Called with what was asked, for the URL. */
  readonly onAsk: (asked: ExplainSearch) => void;
}

/**
 * Asks a data plane what would happen to a request, and shows what each stage decides. It asks at once what the URL says: a
 * question has no effect.
 */
export function ExplainPanel({ route, asked, onAsk }: ExplainPanelProps) {
  const { allowed, reason } = useScope('config:read');
  const reader = useCaller();
  const [base] = useState(() => askedDraft(firstQuestion(route, reader), asked));
  const [draft, setDraft] = useState(base);
  const asking = useMutation({
    mutationFn: async () => {
      // The API checks what was typed, and says what is wrong.
      const body = questionOf(draft) as components['schemas']['ExplainQuestion'];
      const params = { path: { id: route.id } };
      return (await gateway.post('/v1/routes/{id}/explain', { params, body })).body.data;
    },
  });
  const { error } = asking;
  const said = useMemo(() => fieldErrors(error instanceof ApiError ? error.details : []), [error]);
  const state = useMemo(
    () => ({
      draft,
      base,
      errors: said,
      said,
      set: (path: string, value: unknown) => setDraft((now) => withValue(now, path, value)),
    }),
    [base, draft, said],
  );
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (error !== null) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [error]);
  const askFirst = useEffectEvent(() => {
    if (allowed && asked.method !== undefined) asking.mutate();
  });
  useEffect(() => askFirst(), []);
  if (!allowed) return <NotPermitted reason={reason} />;

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    asking.mutate();
    onAsk(explainSearch(draft));
  }

  return (
    <Stack gap="md">
      <Text size="sm" c="dimmed">
        A data plane says what it would do with a request. Nothing is sent, and nothing is spent.
      </Text>
      <div className={classes.page}>
        <div className={classes.panes}>
          <Paper
            ref={form}
            withBorder
            p="sm"
            component="form"
            className={classes.question ?? ''}
            onSubmit={submit}
            aria-label="Request"
            noValidate
          >
            <Stack gap="md">
              {error !== null && (
                <FormError error={error} title="There is no explanation" labelOf={questionLabel} />
              )}
              <FormContext value={state}>
                <QuestionFields route={route} />
              </FormContext>
              <Group justify="flex-end">
                <Button type="submit" loading={asking.isPending}>
                  Explain
                </Button>
              </Group>
            </Stack>
          </Paper>
          {asking.data === undefined ? (
            <Paper withBorder className={classes.before ?? ''}>
              <Empty title="The answer appears here">
                What each stage of the gateway would do, and why.
              </Empty>
            </Paper>
          ) : (
            <ExplanationView explanation={asking.data} />
          )}
        </div>
      </div>
    </Stack>
  );
}
