import { Modal } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { environmentsQuery, useEnvironment } from '../../api/environments.ts';
import { useCaller } from '../../api/rights.ts';
import { askToLeave } from '../../ui/form/ask-to-leave.ts';
import { TextField } from '../../ui/form/fields.tsx';
import { ResourceForm } from '../../ui/form/resource-form.tsx';
import { TimeField } from '../../ui/form/time-field.tsx';
import { SecretOnce } from '../../ui/secret-once.tsx';
import { localTime } from '../../ui/time-text.ts';
import { ChoicesField } from './choices-field.tsx';
import { RoutesField } from './routes-field.tsx';
import { SCOPES } from './scopes.ts';
import { createToken, type IssuedToken, type TokenCreate } from './tokens-query.ts';

interface NewTokenProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** Creates a token in a dialog, then shows its secret once. */
export function NewToken({ opened, onClose }: NewTokenProps) {
  return (
    <Modal
      opened={opened}
      onClose={() => askToLeave(onClose)}
      title="New token"
      size="lg"
      // A slip must not lose what was typed, nor a secret that is shown once.
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      {opened && <NewTokenForm onClose={onClose} />}
    </Modal>
  );
}

function NewTokenForm({ onClose }: Pick<NewTokenProps, 'onClose'>) {
  const environment = useEnvironment();
  const { data: environments = [] } = useQuery(environmentsQuery);
  const ownEnd = useCaller()?.secret_expires_at ?? null;
  const queryClient = useQueryClient();
  const [issued, setIssued] = useState<IssuedToken>();
  const [draft] = useState({
    name: '',
    environments: [environment],
    scopes: ['proxy'],
    routes: ['*'],
  });

  if (issued !== undefined) {
    const { token, secret } = issued;
    return <SecretOnce label={`Secret of ${token.name}`} secret={secret} onDone={onClose} />;
  }
  return (
    <ResourceForm
      label="New token"
      reading={{ draft }}
      onCancel={onClose}
      onSave={async (changes) => {
        // The API checks what was typed.
        setIssued(await createToken({ ...draft, ...changes } as TokenCreate));
        void queryClient.invalidateQueries({ queryKey: ['tokens'] });
      }}
    >
      <TextField
        path="name"
        label="Name"
        description="For people. It is unique in each environment of the token."
        autoFocus
      />
      <ChoicesField path="scopes" label="What it may do" everything="Everything" choices={SCOPES} />
      <ChoicesField
        path="environments"
        label="Environments"
        everything="All environments, later ones too"
        choices={environments.map((name) => [name, ''] as const)}
      />
      <RoutesField />
      <TimeField
        path="expires_at"
        label="Expires"
        description={
          ownEnd === null
            ? 'Empty: never.'
            : `Empty: with your own token, ${localTime(ownEnd)}. It cannot be later.`
        }
        empty={undefined}
      />
    </ResourceForm>
  );
}
