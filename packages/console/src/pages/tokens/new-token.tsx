import { Modal } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { environmentsQuery, useEnvironment } from '../../api/environments.ts';
import { serverClock } from '../../api/client.ts';
import { useCaller } from '../../api/rights.ts';
import { askToLeave } from '../../ui/form/ask-to-leave.ts';
import { TextField } from '../../ui/form/fields.tsx';
import { ResourceForm } from '../../ui/form/resource-form.tsx';
import { SecretOnce } from '../../ui/secret-once.tsx';
import { ChoicesField } from './choices-field.tsx';
import { RoutesField } from './routes-field.tsx';
import { expiryAfter, usualExpiry } from './expiries.ts';
import { ExpiryField } from './expiry-field.tsx';
import { ScopesField } from './scopes-field.tsx';
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
  const [draft] = useState(() => {
    const nowMs = serverClock.nowMs();
    const end = expiryAfter(usualExpiry(ownEnd, nowMs), nowMs);
    return {
      name: '',
      environments: [environment],
      scopes: ['proxy'],
      // A slip must not give a token all routes, so some are chosen.
      routes: [],
      ...(end !== undefined && { expires_at: end }),
    };
  });

  if (issued !== undefined) {
    const { token, secret } = issued;
    return <SecretOnce label={`Secret of ${token.name}`} secret={secret} onDone={onClose} />;
  }
  return (
    <ResourceForm
      label="New token"
      action="Create token"
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
        description="Which program or person uses it. Unique in its environments."
        autoFocus
      />
      <ScopesField />
      <RoutesField />
      <ChoicesField
        path="environments"
        label="Environments"
        everything="All environments, later ones too"
        choices={environments.map((name) => [name, ''] as const)}
      />
      <ExpiryField ownEnd={ownEnd} />
    </ResourceForm>
  );
}
