import { Alert, Button, Code, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode, type SubmitEvent } from 'react';
import { errorText } from './error-text.ts';

interface ConfirmByNameProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  /** The question, such as `Delete service payments?`. */
  readonly title: string;
  /** What must be typed. */
  readonly name: string;
  /** On the button that does it. */
  readonly action: string;
  /** What will happen. */
  readonly children: ReactNode;
  /** Does it. If it rejects, the dialog stays open and shows the error. */
  readonly onConfirm: () => Promise<void>;
}

/** Asks for the name of what is destroyed, so that nobody destroys the wrong thing by a slip. */
export function ConfirmByName(props: ConfirmByNameProps) {
  return (
    <Modal opened={props.opened} onClose={props.onClose} title={props.title} centered>
      {props.opened && <ConfirmForm {...props} />}
    </Modal>
  );
}

function ConfirmForm({ name, action, children, onConfirm, onClose }: ConfirmByNameProps) {
  const [typed, setTyped] = useState('');
  const attempt = useMutation({ mutationFn: onConfirm, onSuccess: onClose });

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    if (typed === name) attempt.mutate();
  }

  return (
    <form onSubmit={submit}>
      <Stack>
        <Text size="sm" component="div">
          {children}
        </Text>
        {attempt.isError && (
          <Alert color="red" role="alert">
            {errorText(attempt.error)}
          </Alert>
        )}
        <TextInput
          label={
            <>
              Type <Code>{name}</Code> to confirm
            </>
          }
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
          data-autofocus
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" color="red" disabled={typed !== name} loading={attempt.isPending}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
