import type { FormFields } from '@gateway/client/form-fields';
import { createContext } from 'react';

/** The fields of the API that a form is for, whose labels its messages use. Empty: fields have their names in words. */
export const FormDefinition = createContext<FormFields>({});
