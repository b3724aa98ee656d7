import { questionLabel } from '../route/explain/question.ts';
import { Alert, Code, Drawer, Group, Loader, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { RequestRecord } from '../../api/client.ts';
import { environmentTone } from '../../shell/environment-tone.ts';
import { Loading } from '../../ui/loading.tsx';
import { useReturnFocus } from '../../ui/return-focus.ts';
import { LoadError } from '../../ui/load-error.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { FormError } from '../../ui/form/form-error.tsx';
import { RequestLine } from './request-line.tsx';
import { SendFields } from './send-fields.tsx';
import { SendResult } from './send-result.tsx';
import { sendStateQuery } from './send-call.ts';
import classes from './send.module.css';
import { useSending } from './use-sending.ts';
import type { SendToken, SentRoute } from './send-draft.ts';

interface SendDrawerProps {
  readonly route: SentRoute;
  readonly record?: Pick<RequestRecord, 'method' | 'path'>;
  readonly onClose: () => void;
}

/** Sends a request through a data plane, and shows what came back beside it. */
export function SendDrawer({ route, record, onClose }: SendDrawerProps) {
  const { data, error, refetch } = useQuery(sendStateQuery);
  useReturnFocus();
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size="min(1120px, 100vw)"
      title={
        <span className={classes.title}>
          Send a request through {route.name}
          <span className={classes.environment} data-tone={environmentTone(route.environment)}>
            {route.environment}
          </span>
        </span>
      }
    >
      {error !== null && <LoadError error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading />}
      {data?.configured === false && <NotConfigured />}
      {data?.configured === true && (
        <SendForm route={route} {...(record === undefined ? {} : { record })} />
      )}
    </Drawer>
  );
}

function NotConfigured() {
  return (
    <Alert color="yellow" title="The control plane does not know where data planes are">
      <Text size="sm">
        Set <Code>DATA_PLANE_URL</Code> of the control planes to the address of a data plane, or of
        the load balancer before them, such as <Code>http://data-plane:8080</Code>, and start them
        again.
      </Text>
    </Alert>
  );
}

function SendForm({ route, record }: Omit<SendDrawerProps, 'onClose'>) {
  const sending = useSending(route, record);
  const { draft, isPending, error, result, asked } = sending;
  return (
    <div className={classes.panes}>
      <form
        className={classes.form}
        aria-label="Request"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          sending.submit();
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) sending.submit();
        }}
      >
        <RequestLine route={route} sending={sending} />
        <div className={classes.request}>
          <SendFields route={route} sending={sending} />
        </div>
      </form>
      <div className={classes.result} aria-live="polite" aria-busy={isPending}>
        {error !== null && (
          <FormError error={error} title="There is no response" labelOf={questionLabel} />
        )}
        {isPending && <Waiting token={draft.token} />}
        {!isPending && error === null && result === undefined && <BeforeSending />}
        {result !== undefined && <SendResult key={result.key} route={route} result={result} />}
      </div>
      <ConfirmDialog
        opened={asked}
        onClose={sending.dismiss}
        title={`Send ${draft.method} to ${route.environment}?`}
        action={`Send ${draft.method}`}
        isHarmless
        onConfirm={sending.confirm}
      >
        The request goes through the route {route.name} to its service, which may act on it. It
        cannot be undone here.
      </ConfirmDialog>
    </div>
  );
}

function BeforeSending() {
  return (
    <Stack gap={4} className={classes.quiet ?? ''}>
      <Text fw={500}>The response appears here</Text>
      <Text size="sm" c="dimmed">
        With its record, and what each stage of the gateway decides about such a request.
      </Text>
      <Text size="xs" c="dimmed" mt="xs">
        The request is real and recorded as any other. What you type, and what comes back, is
        neither stored nor logged.
      </Text>
    </Stack>
  );
}

function Waiting({ token }: { readonly token: SendToken }) {
  return (
    <Group gap="xs" className={classes.quiet ?? ''}>
      <Loader size={16} />
      <Text size="sm" c="dimmed">
        {token === 'minted'
          ? 'Sending. A new token must reach the data planes first, which takes a moment.'
          : 'Sending.'}
      </Text>
    </Group>
  );
}
