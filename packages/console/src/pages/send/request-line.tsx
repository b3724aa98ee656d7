import { ApiError } from '@gateway/client';
import { Button, NativeSelect, TextInput } from '@mantine/core';
import { DEFAULT_METHODS } from '../../api/default-methods.ts';
import { fieldErrors } from '../../ui/form/field-errors.ts';
import type { SentRoute } from './send-draft.ts';
import classes from './send.module.css';
import type { Sending } from './use-sending.ts';

const MONOSPACE = { input: { fontFamily: 'var(--font-mono)' } };

interface RequestLineProps {
  readonly route: SentRoute;
  readonly sending: Sending;
}

/** The method, the path and the button that sends. */
export function RequestLine({ route, sending }: RequestLineProps) {
  const { draft, change, error, isPending } = sending;
  const errors = fieldErrors(error instanceof ApiError ? error.details : []);
  const methods = new Set([draft.method, ...DEFAULT_METHODS, ...(route.methods ?? [])]);
  return (
    <div className={classes.line}>
      <NativeSelect
        aria-label="Method"
        data-path="method"
        data={[...methods].toSorted()}
        value={draft.method}
        styles={MONOSPACE}
        error={errors.at('method')}
        onChange={({ currentTarget }) => change({ method: currentTarget.value })}
      />
      <span className={classes.prefix} title={`/v1/proxy/${route.name}`}>
        /v1/proxy/{route.name}
      </span>
      <TextInput
        autoComplete="off"
        spellCheck={false}
        // What the drawer has to read first comes after it opened.
        autoFocus
        data-autofocus
        aria-label="Path and query"
        data-path="path query"
        placeholder="/17?full=1"
        className={classes.target ?? ''}
        styles={MONOSPACE}
        value={draft.target}
        error={errors.at('path') ?? errors.at('query')}
        onChange={({ currentTarget }) => change({ target: currentTarget.value })}
      />
      {isPending ? (
        <Button variant="default" className={classes.send ?? ''} onClick={sending.stop}>
          Stop
        </Button>
      ) : (
        <Button type="submit" className={classes.send ?? ''}>
          Send
        </Button>
      )}
    </div>
  );
}
