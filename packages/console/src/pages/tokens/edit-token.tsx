import { Modal } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import type { Token } from '../../api/client.ts';
import { askToLeave } from '../../ui/form/ask-to-leave.ts';
import { TextField } from '../../ui/form/fields.tsx';
import { ResourceForm } from '../../ui/form/resource-form.tsx';
import { TimeField } from '../../ui/form/time-field.tsx';
import { notifySuccess } from '../../ui/notify.ts';
import { useReturnFocus } from '../../ui/return-focus.ts';
import { changeToken } from './tokens-query.ts';

interface EditTokenProps {
  readonly token: Token;
  readonly onClose: () => void;
}

/** Changes the name and the expiry of a token. Its rights never change. */
export function EditToken({ token, onClose }: EditTokenProps) {
  const queryClient = useQueryClient();
  const { name, expires_at } = token;
  useReturnFocus();
  return (
    <Modal
      opened
      onClose={() => askToLeave(onClose)}
      title={`Edit token ${name}`}
      closeOnClickOutside={false}
    >
      <ResourceForm
        label={`Edit token ${name}`}
        reading={{ draft: { name, expires_at } }}
        onCancel={onClose}
        onSave={async (changes) => {
          await changeToken(token.id, changes);
          notifySuccess('The token was changed.');
          onClose();
          void queryClient.invalidateQueries({ queryKey: ['tokens'] });
        }}
      >
        <TextField path="name" label="Name" autoFocus />
        <TimeField path="expires_at" label="Expires" description="Empty: never." empty={null} />
      </ResourceForm>
    </Modal>
  );
}
