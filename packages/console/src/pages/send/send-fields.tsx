import {
  Button,
  Code,
  Group,
  NativeSelect,
  PasswordInput,
  SegmentedControl,
  Stack,
  Text,
  Textarea,
} from '@mantine/core';
import { useId } from 'react';
import { ApiError, type ErrorDetail } from '@gateway/client';
import { fieldErrors } from '../../ui/form/field-errors.ts';
import { formattedJson, hostsOf, type SendToken, type SentRoute } from './send-draft.ts';
import type { Sending } from './use-sending.ts';

/** Browsers must not fill in or correct what is sent. */
const PLAIN = { autoComplete: 'off', spellCheck: false } as const;
const MONOSPACE = { input: { fontFamily: 'var(--font-mono)' } };

const TOKENS: readonly (readonly [SendToken, string])[] = [
  ['minted', 'New, for ten minutes'],
  ['given', 'Pasted'],
  ['none', 'None'],
];

interface SendFieldsProps {
  readonly route: SentRoute;
  readonly sending: Sending;
}

/** The request that is sent. */
export function SendFields({ route, sending }: SendFieldsProps) {
  const { draft, change, error } = sending;
  const details = error instanceof ApiError ? error.details : [];
  const errors = fieldErrors(details);
  const hosts = hostsOf(route);
  const formatted = formattedJson(draft.body);
  return (
    <>
      {hosts.length > 0 && (
        <NativeSelect
          label="Host"
          data-path="host"
          data={[{ value: '', label: 'That of the data planes' }, ...hosts]}
          value={draft.host}
          onChange={({ currentTarget }) => change({ host: currentTarget.value })}
        />
      )}
      <Textarea
        {...PLAIN}
        label="Headers"
        data-path="headers"
        description="Name: value, one in each line"
        autosize
        minRows={2}
        maxRows={8}
        styles={MONOSPACE}
        value={draft.headers}
        error={headersError(details)}
        onChange={({ currentTarget }) => change({ headers: currentTarget.value })}
      />
      <Stack gap={4}>
        <Group justify="space-between" align="flex-end">
          <Text component="label" htmlFor="send-body" size="sm" fw={500}>
            Body
          </Text>
          {formatted !== undefined && formatted !== draft.body && (
            <Button size="compact-xs" variant="subtle" onClick={() => change({ body: formatted })}>
              Format JSON
            </Button>
          )}
        </Group>
        <Textarea
          {...PLAIN}
          id="send-body"
          data-path="body"
          autosize
          minRows={4}
          maxRows={16}
          styles={MONOSPACE}
          value={draft.body}
          error={errors.at('body')}
          onChange={({ currentTarget }) => change({ body: currentTarget.value })}
        />
      </Stack>
      <TokenChoice sending={sending} error={errors.at('token')} route={route} />
    </>
  );
}

/** What is wrong with the lines of headers, which people count from 1. */
function headersError(details: readonly ErrorDetail[]): string | undefined {
  const messages = details.flatMap(({ path, message }) => {
    const [field, index] = path.split('.');
    if (field !== 'headers') return [];
    return [index === undefined ? message : `header ${Number(index) + 1} ${message}`];
  });
  return messages.length === 0 ? undefined : messages.join('; ');
}

interface TokenChoiceProps extends SendFieldsProps {
  readonly error: string | undefined;
}

function TokenChoice({ sending, route, error }: TokenChoiceProps) {
  const { draft, change, pasted, paste } = sending;
  const label = useId();
  return (
    <Stack gap="xs">
      <Text size="sm" fw={500} id={label}>
        Token
      </Text>
      <SegmentedControl
        aria-labelledby={label}
        data={TOKENS.map(([value, text]) => ({ value, label: text }))}
        value={draft.token}
        onChange={(token) => change({ token })}
      />
      <Text size="xs" c="dimmed">
        {tokenText(draft.token, route)}
      </Text>
      {draft.token === 'given' && (
        <PasswordInput
          autoComplete="off"
          aria-label="Pasted token"
          placeholder={route.auth.type === 'jwt' ? 'eyJ…' : 'gwt_…'}
          value={pasted}
          error={error}
          onChange={({ currentTarget }) => paste(currentTarget.value)}
        />
      )}
    </Stack>
  );
}

function tokenText(token: SendToken, { name, environment, auth }: SentRoute) {
  if (token === 'none') {
    return auth.type === 'none'
      ? 'The route asks for none.'
      : 'The gateway will refuse the request with 401.';
  }
  if (token === 'given') return 'It is used for this one request, and kept nowhere.';
  if (auth.type === 'jwt') return 'The route asks for a JWT of its issuer: paste one.';
  return (
    <>
      The control plane creates one for <Code>{name}</Code> in {environment}. The audit trail names
      it; its secret does not reach the browser.
    </>
  );
}
