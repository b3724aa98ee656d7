import { Badge } from '@mantine/core';
import { useId, type ReactNode } from 'react';
import { FoldButton } from '../fold-button.tsx';
import classes from './folded-section.module.css';
import { FieldGrid } from './form-section.tsx';
import type { SectionState } from './section.ts';

interface FoldedSectionProps {
  readonly title: string;
  readonly description?: string | undefined;
  readonly fields: readonly string[];
  readonly columns?: 1 | undefined;
  /** What it does now. */
  readonly sentence: string;
  readonly state: SectionState;
  /** Whether the API says that something in it is wrong. */
  readonly hasError: boolean;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
  readonly children: ReactNode;
}

/**
 * A row that says what a section does, and its fields when it is unfolded. Folded ones stay in the page, so that what was
 * typed in them is kept.
 */
export function FoldedSection(props: FoldedSectionProps) {
  const { title, description, fields, columns, sentence, isOpen, onToggle, children } = props;
  const id = useId();
  return (
    <section
      data-fields={fields.join(' ')}
      aria-labelledby={`${id}-title`}
      className={classes.section}
    >
      <div className={classes.row}>
        <h3 className={classes.heading}>
          <FoldButton
            isOpen={isOpen}
            onToggle={onToggle}
            controls={`${id}-fields`}
            id={`${id}-title`}
            describedBy={`${id}-sentence ${id}-mark`}
            className={classes.toggle}
          >
            {title}
          </FoldButton>
        </h3>
        <p className={classes.sentence} id={`${id}-sentence`} data-state={props.state}>
          {sentence}
        </p>
        <div id={`${id}-mark`} className={classes.marks}>
          <Mark state={props.state} hasError={props.hasError} />
        </div>
      </div>
      <div id={`${id}-fields`} hidden={!isOpen} className={classes.body}>
        {description !== undefined && <p className={classes.description}>{description}</p>}
        <FieldGrid columns={columns}>{children}</FieldGrid>
      </div>
    </section>
  );
}

function Mark({ state, hasError }: Pick<FoldedSectionProps, 'state' | 'hasError'>) {
  if (hasError)
    return (
      <Badge className={classes.mark ?? ''} data-tone="bad">
        error
      </Badge>
    );
  if (state === 'usual') return null;
  return (
    <Badge className={classes.mark ?? ''} data-tone={state}>
      {state === 'own' ? 'not default' : 'changed'}
    </Badge>
  );
}
