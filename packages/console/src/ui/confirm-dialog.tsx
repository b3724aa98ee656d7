import { Alert, Button, Code, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode, type SubmitEvent } from 'react';
import { errorText } from './error-text.ts';
import { useReturnFocus } from './return-focus.ts';

interface ConfirmDialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  /** The question, such as `Delete service payments?`. */
  readonly title: string;
  /** What must be typed, if it cannot be undone. */
  readonly name?: string;
  /** On the button that does it. */
  readonly action: string;
  /** Whether it only brings something forward, and so has the colour of other actions. */
  readonly isHarmless?: boolean;
  /** On the other button. */
  readonly cancel?: string;
  /** Whether it shows values, which may be long. */
  readonly isWide?: boolean;
  /** What will happen. */
  readonly children: ReactNode;
  /** Does it. If it rejects, the dialog stays open and shows the error. */
  readonly onConfirm: () => Promise<void>;
}

/**
 * Asks before something is destroyed or may stop requests. What cannot be undone asks for its name, so that nobody
 * destroys the wrong thing by a slip.
 */
export function ConfirmDialog(props: ConfirmDialogProps) {
  return (
    <Modal
      opened={props.opened}
      onClose={props.onClose}
      title={props.title}
      size={props.isWide === true ? 'lg' : 'md'}
    >
      {props.opened && <ConfirmForm {...props} />}
    </Modal>
  );
}

function ConfirmForm(props: ConfirmDialogProps) {
  const { name, action, cancel = 'Cancel', children, onConfirm, onClose } = props;
  const [typed, setTyped] = useState('');
  useReturnFocus();
  const attempt = useMutation({ mutationFn: onConfirm, onSuccess: onClose });
  const isConfirmed = name === undefined || typed === name;

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    // The dialog may be a part of a form, which must not be sent.
    event.stopPropagation();
    if (isConfirmed) attempt.mutate();
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
        {name !== undefined && (
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
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose} data-autofocus={name === undefined}>
            {cancel}
          </Button>
          <Button
            type="submit"
            {...(props.isHarmless !== true && { color: 'red' })}
            disabled={!isConfirmed}
            loading={attempt.isPending}
          >
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
