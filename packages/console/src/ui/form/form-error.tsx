import { ApiError } from '@gateway/client';
import { Alert, Code, List, Text } from '@mantine/core';
import { errorText, requestIdOf } from '../error-text.ts';

interface FormErrorProps {
  readonly error: unknown;
  readonly title?: string;
}

/** Why a form was not saved: the message, and each field that the API names, for fields out of sight. */
export function FormError({ error, title = 'This was not saved' }: FormErrorProps) {
  const details = error instanceof ApiError ? error.details : [];
  const requestId = requestIdOf(error);
  return (
    <Alert color="red" role="alert" title={title}>
      <Text size="sm">{errorText(error)}</Text>
      {details.length > 0 && (
        <List size="sm" mt="xs">
          {details.map(({ path, message }) => (
            <List.Item key={`${path} ${message}`}>
              <Code>{path}</Code> {message}
            </List.Item>
          ))}
        </List>
      )}
      {details.length === 0 && requestId !== undefined && <Code>{requestId}</Code>}
    </Alert>
  );
}
