import { Alert, Button, Group, Stack, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { CopyButton } from './copy-button.tsx';

interface SecretOnceProps {
  /** Names the secret, such as `Secret of billing`. */
  readonly label: string;
  /** It must be in the state of the dialog only: not in a query, in storage or in a URL. */
  readonly secret: string;
  /** What becomes of the former secret, for example. */
  readonly children?: ReactNode;
  readonly onDone: () => void;
}

/** A secret that no later response shows, with a button that copies it. */
export function SecretOnce({ label, secret, children, onDone }: SecretOnceProps) {
  return (
    <Stack>
      <Alert color="yellow" title="Copy the secret now" role="status">
        The gateway keeps only a hash of it. It cannot show the secret again.
      </Alert>
      <Group gap="xs" align="flex-end" wrap="nowrap">
        <TextInput
          flex={1}
          label={label}
          value={secret}
          readOnly
          autoComplete="off"
          spellCheck={false}
          styles={{
            input: { fontFamily: 'var(--font-mono)', fontSize: 'var(--mantine-font-size-xs)' },
          }}
          data-autofocus
          onFocus={(event) => event.currentTarget.select()}
        />
        <CopyButton text={secret} what="the secret" size="sm" />
      </Group>
      {children}
      <Group justify="flex-end">
        <Button onClick={onDone}>Done</Button>
      </Group>
    </Stack>
  );
}
