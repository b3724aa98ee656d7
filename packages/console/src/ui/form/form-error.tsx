import { ApiError } from '@gateway/client';
import { countedText } from '@gateway/client/measures';
import { Alert, Anchor, Code, Text } from '@mantine/core';
import { use, useLayoutEffect, useRef, useState } from 'react';
import { errorText, requestIdOf } from '../error-text.ts';
import { fieldLabel } from './field-labels.ts';
import { controlOf, focusField } from './focus-field.ts';
import { FormDefinition } from './form-definition.ts';
import classes from './form-error.module.css';

interface FormErrorProps {
  readonly error: unknown;
  /** For an error that names no field. */
  readonly title?: string;
  /** What the form calls the field at a path of the API. Default: the label of the definition. */
  readonly labelOf?: (path: string) => string;
}

/** Why a form was not saved: the fields that are wrong, each of which has its message, or what else went wrong. */
export function FormError({ error, title = 'This was not saved', labelOf }: FormErrorProps) {
  const form = use(FormDefinition);
  const requestId = requestIdOf(error);
  if (error instanceof ApiError && error.details.length > 0) {
    const label = labelOf ?? ((path: string) => fieldLabel(path, form));
    return <WrongFields details={error.details} labelOf={label} />;
  }
  return (
    <Alert color="red" role="alert" title={title}>
      <Text size="sm">{errorText(error)}</Text>
      {requestId !== undefined && <Code>{requestId}</Code>}
    </Alert>
  );
}

interface WrongFieldsProps extends Required<Pick<FormErrorProps, 'labelOf'>> {
  readonly details: ApiError['details'];
}

function WrongFields({ details, labelOf }: WrongFieldsProps) {
  const place = useRef<HTMLDivElement>(null);
  const [unseen, setUnseen] = useState<ReadonlySet<string>>(new Set());
  useLayoutEffect(() => {
    const form = formOf(place.current);
    setUnseen(new Set(details.map(({ path }) => path).filter((path) => !controlOf(form, path))));
  }, [details]);
  const byLabel = Map.groupBy(details, ({ path }) => labelOf(path));
  const count = byLabel.size;
  return (
    <Alert
      ref={place}
      color="red"
      role="alert"
      classNames={{ body: classes.body ?? '' }}
      title={`${countedText(count, 'field')} ${count === 1 ? 'is' : 'are'} wrong`}
    >
      <ul className={classes.links}>
        {[...byLabel].map(([label, [first, ...more]]) => {
          if (first === undefined) return null;
          // Its message would be nowhere else.
          const isUnseen = unseen.has(first.path);
          const messages = [first, ...more].map(({ message }) => message);
          return (
            <li key={label}>
              {isUnseen ? (
                `${label} ${messages.join('; ')}`
              ) : (
                <Anchor
                  component="button"
                  type="button"
                  inherit
                  onClick={() => focusField(formOf(place.current), first.path)}
                >
                  {label}
                </Anchor>
              )}
            </li>
          );
        })}
      </ul>
    </Alert>
  );
}

/** Where the fields are: in the form of the message, or in its dialog. */
function formOf(message: HTMLElement | null): ParentNode {
  return message?.closest('form, [role="dialog"]') ?? document;
}
