import { Modal } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { gateway } from '../../api/client.ts';
import { askToLeave } from '../../ui/form/ask-to-leave.ts';
import { TextField } from '../../ui/form/fields.tsx';
import { ResourceForm } from '../../ui/form/resource-form.tsx';
import { notifySuccess } from '../../ui/notify.ts';

const DRAFT = { name: '' };

/** Creates an environment in a dialog. */
export function NewEnvironment({ onClose }: { readonly onClose: () => void }) {
  const queryClient = useQueryClient();

  async function create(changes: Record<string, unknown>): Promise<void> {
    // The API checks what was typed.
    const body = { ...DRAFT, ...changes };
    const { name } = (await gateway.post('/v1/environments', { body })).body.data;
    notifySuccess(`Environment ${name} was created.`);
    onClose();
    void queryClient.invalidateQueries({ queryKey: ['environments'] });
  }

  return (
    <Modal
      opened
      onClose={() => askToLeave(onClose)}
      title="New environment"
      closeOnClickOutside={false}
    >
      <ResourceForm
        label="New environment"
        action="Create environment"
        reading={{ draft: DRAFT }}
        onSave={create}
        onCancel={onClose}
      >
        <TextField
          path="name"
          label="Name"
          description="Callers send it as X-Gateway-Environment. It cannot be changed later."
          autoFocus
        />
      </ResourceForm>
    </Modal>
  );
}
