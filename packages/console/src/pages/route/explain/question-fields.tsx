import { Code, Group, NativeSelect, Radio, Textarea } from '@mantine/core';
import type { Route } from '../../../api/client.ts';
import { DEFAULT_METHODS } from '../../../api/default-methods.ts';
import { TextField } from '../../../ui/form/fields.tsx';
import { useField } from '../../../ui/form/form-context.ts';
import { TokenField } from './token-field.tsx';
import classes from './question-fields.module.css';

const CALLERS = [
  ['headers', 'As the headers say'],
  ['token', 'A token'],
  ['anonymous', 'Nobody'],
] as const;

/** The request that is asked about. */
export function QuestionFields({ route }: { readonly route: Pick<Route, 'name' | 'methods'> }) {
  const caller = useField('caller');
  return (
    <div className={classes.fields}>
      <MethodField listed={route.methods ?? []} />
      <TargetField name={route.name} />
      <LinesField
        path="headers"
        label="Headers"
        description="Name: value, one in each line. They are not logged or stored."
      />
      <LinesField
        path="body"
        label="Body"
        description="An idempotency key is compared with the body of its first request"
      />
      <TextField
        path="host"
        label="Host"
        description="Empty: the request names the route. Else the path is the whole path."
      />
      <TextField
        path="client_ip"
        label="Client address"
        description="Empty: your own, as the gateway sees it"
      />
      <TextField path="data_plane" label="Data plane" description="Empty: any" />
      <Radio.Group
        label="Caller"
        value={typeof caller.value === 'string' ? caller.value : ''}
        onChange={caller.set}
      >
        <Group gap="lg" pt="xs">
          {CALLERS.map(([value, label]) => (
            <Radio key={value} value={value} label={label} />
          ))}
        </Group>
      </Radio.Group>
      {caller.value === 'token' && <TokenField path="token_id" />}
    </div>
  );
}

/** A method that the route does not accept may be asked about too. */
function MethodField({ listed }: { readonly listed: readonly string[] }) {
  const { value, error, set } = useField('method');
  return (
    <NativeSelect
      label="Method"
      data-path="method"
      data={[...new Set([...DEFAULT_METHODS, ...listed])]}
      value={typeof value === 'string' ? value : ''}
      error={error}
      onChange={({ currentTarget }) => set(currentTarget.value)}
    />
  );
}

/** The path and the query, which the API takes as two fields. */
function TargetField({ name }: Pick<Route, 'name'>) {
  const errors = [useField('path').error, useField('query').error].filter(Boolean);
  return (
    <TextField
      path="target"
      data-path="path query"
      label="Path and query"
      description={
        <>
          After <Code>/v1/proxy/{name}</Code> or the host, such as <Code>/17?full=1</Code>
        </>
      }
      {...(errors.length === 0 ? {} : { error: errors.join('; ') })}
    />
  );
}

interface LinesFieldProps {
  readonly path: string;
  readonly label: string;
  readonly description: string;
}

function LinesField({ path, ...props }: LinesFieldProps) {
  const { value, errorWithin, set } = useField(path);
  return (
    <Textarea
      {...props}
      data-path={path}
      autosize
      minRows={2}
      maxRows={8}
      autoComplete="off"
      spellCheck={false}
      value={typeof value === 'string' ? value : ''}
      error={errorWithin}
      onChange={({ currentTarget }) => set(currentTarget.value)}
    />
  );
}
