import { ApiError } from '@gateway/client';
import type { FormFields } from '@gateway/client/form-fields';
import { Box, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import {
  Fragment,
  useEffect,
  useMemo,
  useRef,
  useState,
  type KeyboardEvent,
  type ReactNode,
  type SubmitEvent,
} from 'react';
import { isOutdated } from '../../api/client.ts';
import { ConfirmDialog } from '../confirm-dialog.tsx';
import { ChangedMeanwhile } from './changed-meanwhile.tsx';
import { changesBetween, differencesBetween, withChanges, withValue, type Draft } from './draft.ts';
import { fieldErrors, standingDetails } from './field-errors.ts';
import { FormContext } from './form-context.ts';
import { FormDefinition } from './form-definition.ts';
import { FormError } from './form-error.tsx';
import { FormFooter } from './form-footer.tsx';
import { PreviewButton, PreviewColumn, useIsPreviewBeside } from './preview/preview-places.tsx';
import type { FormPreview } from './preview/form-preview.ts';
import classes from './resource-form.module.css';
import type { LastChange } from './last-change.ts';
import { discardUnsaved, useUnsaved } from './unsaved.ts';

/** A resource as it was read, and its ETag; undefined for a new one. */
export interface Reading {
  readonly draft: Draft;
  readonly etag?: string | undefined;
  /** The change that made it so, if that is known. */
  readonly change?: LastChange | undefined;
}

/** A question before a change is sent. */
export interface FormQuestion {
  /** Such as `Disable route payments?` */
  readonly title: string;
  /** On the button that does it. */
  readonly action: string;
  /** What will happen. */
  readonly body: ReactNode;
}

/** What a form has now. */
interface Edited {
  readonly draft: Draft;
  /** The body of a PATCH. */
  readonly changes: Readonly<Record<string, unknown>>;
  readonly etag: string | undefined;
}

interface ResourceFormProps {
  /** Names the form for people who do not see it. */
  readonly label: string;
  /** The fields of the API, by whose labels the form names what is wrong or was changed. */
  readonly fields?: FormFields;
  /** What is edited; for a new resource its defaults. */
  readonly reading: Reading;
  /** What the form begins with, if that is more than was read: it counts as edited. */
  readonly start?: Draft | undefined;
  /** On the button that saves. Default: Save. */
  readonly action?: string;
  /** The fields whose objects a PATCH merges. */
  readonly merged?: readonly string[];
  /** The paths whose values the form must not show outside of their fields, because they may hold a secret. */
  readonly secret?: readonly string[];
  /** Sends what was changed, with the ETag as `If-Match`. `before` is the draft before it was edited. */
  readonly onSave: (
    changes: Record<string, unknown>,
    etag: string | undefined,
    before: Draft,
  ) => Promise<unknown>;
  /** What is asked before these edits are sent; undefined: nothing. */
  readonly askBefore?: (before: Draft, after: Draft) => FormQuestion | undefined;
  /** Reads the resource again, when it was changed meanwhile. Not needed for a new one. */
  readonly onRead?: () => Promise<Reading>;
  readonly onCancel: () => void;
  /** Shows the buttons only when something was changed: for a form that is a part of a page which people read. */
  readonly isQuiet?: boolean;
  /** The form is the page: its buttons stay in view, and beside them stands how much was changed. */
  readonly isPage?: boolean;
  /** What would be sent, and how a file for gwctl would say it. */
  readonly preview?: (edited: Edited) => FormPreview;
  readonly children: ReactNode;
}

const UNDEFINED_FIELDS: FormFields = {};
const NO_DETAILS: ApiError['details'] = [];

/**
 * A form for a resource. Its fields show the API's own messages; after 412 it shows what changed meanwhile, and keeps or
 * discards the reader's changes.
 */
export function ResourceForm({ fields = UNDEFINED_FIELDS, ...props }: ResourceFormProps) {
  return (
    <FormDefinition value={fields}>
      <EditedResource {...props} />
    </FormDefinition>
  );
}

function EditedResource(props: Omit<ResourceFormProps, 'fields'>) {
  const { label, merged = [], secret = [], onSave, onRead, onCancel, children } = props;
  const { isQuiet = false, isPage = false, action = 'Save', askBefore, start, preview } = props;
  const [base, setBase] = useState(props.reading);
  const [first] = useState(start ?? base.draft);
  const [draft, setDraft] = useState(first);
  const [conflict, setConflict] = useState<Reading>();
  const [question, setQuestion] = useState<FormQuestion>();
  // Fields that hold what was typed begin again when the draft is replaced.
  const [edition, setEdition] = useState(0);
  const form = useRef<HTMLFormElement>(null);
  const notice = useRef<HTMLDivElement>(null);
  const changes = changesBetween(base.draft, draft, merged);
  const saving = useMutation({
    mutationFn: async (_sent: Draft) => {
      try {
        await onSave(changes, base.etag, base.draft);
      } catch (error) {
        if (!isOutdated(error) || onRead === undefined) throw error;
        setConflict(await onRead());
      }
    },
  });
  const { error } = saving;
  const isEdited = draft !== first && Object.keys(changes).length > 0;
  useUnsaved(isEdited && !saving.isPending, draft);
  useEffect(() => {
    if (error === null && conflict === undefined) return;
    // Long forms are saved at their end, where the reader would not see what is said at their begin.
    const invalid = form.current?.querySelector<HTMLElement>('[aria-invalid="true"]');
    (invalid ?? notice.current)?.focus();
  }, [error, conflict]);
  const details = error instanceof ApiError ? error.details : NO_DETAILS;
  const said = useMemo(() => fieldErrors(details), [details]);
  const sent = saving.variables ?? draft;
  const state = useMemo(
    () => ({
      draft,
      base: base.draft,
      errors: fieldErrors(standingDetails(details, sent, draft)),
      said,
      set: (path: string, value: unknown) => setDraft((now) => withValue(now, path, value)),
    }),
    [draft, base, details, sent, said],
  );

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    if (conflict !== undefined || saving.isPending) return;
    const asked = askBefore?.(base.draft, draft);
    if (asked === undefined) saving.mutate(draft);
    else setQuestion(asked);
  }

  function saveOnEnter(event: KeyboardEvent): void {
    if (event.key !== 'Enter' || event.metaKey === event.ctrlKey) return;
    event.preventDefault();
    form.current?.requestSubmit();
  }

  function cancel(): void {
    discardUnsaved();
    onCancel();
  }

  function startFrom(current: Reading, next: Draft): void {
    saving.reset();
    setBase(current);
    setDraft(next);
    setConflict(undefined);
    setEdition((count) => count + 1);
  }

  const isBeside = useIsPreviewBeside();
  const shown = preview?.({ draft, changes, etag: base.etag });
  const rebased = conflict && withChanges(conflict.draft, changes, merged);
  return (
    <FormContext value={state}>
      <div className={shown && isBeside ? classes.beside : undefined}>
        <form
          ref={form}
          className={isPage ? classes.page : undefined}
          onSubmit={submit}
          onKeyDown={saveOnEnter}
          aria-label={label}
          noValidate
        >
          <Stack gap={isPage ? 'md' : 'lg'}>
            {(error !== null || conflict !== undefined) && (
              <Box ref={notice} tabIndex={-1}>
                {error !== null && <FormError error={error} />}
                {conflict !== undefined && rebased !== undefined && (
                  <ChangedMeanwhile
                    theirs={differencesBetween(base.draft, conflict.draft)}
                    mine={differencesBetween(conflict.draft, rebased)}
                    secret={secret}
                    change={conflict.change}
                    onKeep={() => startFrom(conflict, rebased)}
                    onDiscard={() => startFrom(conflict, conflict.draft)}
                  />
                )}
              </Box>
            )}
            <Fragment key={edition}>{children}</Fragment>
            {(!isQuiet || draft !== base.draft) && (
              <FormFooter
                action={action}
                isBusy={saving.isPending}
                isBlocked={conflict !== undefined}
                onCancel={cancel}
                {...(isPage && { changes: differencesBetween(base.draft, draft).length })}
                isNew={base.etag === undefined}
              >
                {shown && !isBeside && <PreviewButton preview={shown} />}
              </FormFooter>
            )}
          </Stack>
        </form>
        {shown && isBeside && <PreviewColumn preview={shown} />}
      </div>
      <ConfirmDialog
        opened={question !== undefined}
        onClose={() => setQuestion(undefined)}
        title={question?.title ?? ''}
        action={question?.action ?? ''}
        onConfirm={() => {
          saving.mutate(draft);
          return Promise.resolve();
        }}
      >
        {question?.body}
      </ConfirmDialog>
    </FormContext>
  );
}
