import { Alert, Button, Group, Modal, NativeSelect, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type SubmitEvent } from 'react';
import type { Token } from '../../api/client.ts';
import { errorText } from '../../ui/error-text.ts';
import { useReturnFocus } from '../../ui/return-focus.ts';
import { SecretOnce } from '../../ui/secret-once.tsx';
import { rotateToken } from './tokens-query.ts';

const GRACE_PERIODS = [
  ['0', 'It ends at once'],
  ['600', '10 minutes'],
  ['3600', '1 hour'],
  ['86400', '1 day'],
  ['604800', '7 days'],
] as const;

interface RotateTokenProps {
  readonly token: Token;
  /** Whether the session of the reader has this token. */
  readonly isOwn: boolean;
  readonly onClose: () => void;
}

/** Gives a token a new secret, and shows it once. */
export function RotateToken({ token, isOwn, onClose }: RotateTokenProps) {
  const queryClient = useQueryClient();
  useReturnFocus();
  const [grace, setGrace] = useState('3600');
  const [secret, setSecret] = useState<string>();
  const attempt = useMutation({
    // Its result would stay in the cache of the library.
    mutationFn: async () => {
      setSecret((await rotateToken(token.id, Number(grace))).secret);
    },
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['tokens'] }),
  });

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    attempt.mutate();
  }

  return (
    <Modal
      opened
      onClose={onClose}
      title={`Rotate token ${token.name}`}
      size="lg"
      closeOnClickOutside={false}
      closeOnEscape={secret === undefined}
    >
      {secret === undefined ? (
        <form onSubmit={submit}>
          <Stack>
            <Text size="sm">
              The token gets a new secret. Its rights stay. Callers with the old secret work until
              the time below is over.
            </Text>
            {isOwn && (
              <Alert color="yellow">
                You are signed in with this token. Your session ends with the old secret, and can
                change no tokens from now on: sign in with the new one.
              </Alert>
            )}
            {attempt.isError && (
              <Alert color="red" role="alert">
                {errorText(attempt.error)}
              </Alert>
            )}
            <NativeSelect
              label="The old secret stays valid for"
              data={GRACE_PERIODS.map(([value, label]) => ({ value, label }))}
              value={grace}
              onChange={({ currentTarget }) => setGrace(currentTarget.value)}
              data-autofocus
            />
            <Group justify="flex-end">
              <Button variant="default" onClick={onClose}>
                Cancel
              </Button>
              <Button type="submit" loading={attempt.isPending}>
                Rotate
              </Button>
            </Group>
          </Stack>
        </form>
      ) : (
        <SecretOnce label={`New secret of ${token.name}`} secret={secret} onDone={onClose} />
      )}
    </Modal>
  );
}
