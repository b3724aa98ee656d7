import { useId, type ReactNode } from 'react';
import classes from './form-section.module.css';

interface FormSectionProps {
  readonly title: string;
  readonly description?: string | undefined;
  /** The names of its fields, by which a URL can open the form at it. */
  readonly fields: readonly string[];
  /** Default: two where there is room. */
  readonly columns?: 1 | undefined;
  readonly children: ReactNode;
}

/** Fields that belong together, beside what they are. */
export function FormSection({ title, description, fields, columns, children }: FormSectionProps) {
  const id = useId();
  return (
    <section className={classes.section} aria-labelledby={id} data-fields={fields.join(' ')}>
      <div>
        <h2 className={classes.title} id={id}>
          {title}
        </h2>
        {description !== undefined && <p className={classes.description}>{description}</p>}
      </div>
      <FieldGrid columns={columns}>{children}</FieldGrid>
    </section>
  );
}

interface FieldGridProps {
  readonly columns?: 1 | undefined;
  readonly children: ReactNode;
}

/** Fields side by side where there is room. */
export function FieldGrid({ columns, children }: FieldGridProps) {
  return (
    <div className={classes.fields} data-columns={columns}>
      {children}
    </div>
  );
}
